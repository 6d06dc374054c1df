package colonnade.catalog;

import colonnade.spark.quirks.AlteredFields;
import colonnade.spark.quirks.AlteredTexts;
import colonnade.spark.quirks.ChecksByCatalog;
import colonnade.spark.quirks.EvolvingInserts;
import colonnade.spark.quirks.EvolvingWrites;
import colonnade.spark.quirks.FillGenerated;
import colonnade.spark.quirks.GivenColumns;
import colonnade.spark.quirks.KeyedMerges;
import colonnade.spark.quirks.LoadCatalogFirst;
import colonnade.spark.quirks.OfferedColumns;
import colonnade.spark.quirks.RowChanges;
import colonnade.spark.quirks.SparkVersion;
import colonnade.spark.quirks.StatedReads;
import colonnade.spark.quirks.SubqueryChecks;
import colonnade.spark.quirks.UnknownColumns;
import colonnade.spark.sink.ColonnadeTable;
import org.apache.spark.sql.SparkSessionExtensions;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/** The extension of sessions, under the name that users put into {@code spark.sql.extensions}. */
public final class SessionExtension extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {
  @Override
  public BoxedUnit apply(SparkSessionExtensions extensions) {
    SparkVersion.require();
    extensions.injectPostHocResolutionRule(session -> new LoadCatalogFirst());
    extensions.injectPostHocResolutionRule(
        session -> new AlteredFields(table -> table instanceof ColonnadeTable));
    extensions.injectPostHocResolutionRule(
        session -> new ChecksByCatalog(table -> table instanceof ColonnadeTable));
    extensions.injectPostHocResolutionRule(session -> new SubqueryChecks());
    extensions.injectPostHocResolutionRule(session -> new OfferedColumns());
    extensions.injectPostHocResolutionRule(session -> new FillGenerated());
    extensions.injectResolutionRule(session -> new UnknownColumns());
    extensions.injectResolutionRule(session -> new KeyedMerges());
    extensions.injectHintResolutionRule(session -> new EvolvingWrites());
    extensions.injectHintResolutionRule(session -> new EvolvingInserts());
    extensions.injectHintResolutionRule(session -> new GivenColumns());
    extensions.injectHintResolutionRule(session -> new RowChanges());
    extensions.injectHintResolutionRule(session -> new StatedReads());
    extensions.injectHintResolutionRule(
        session -> new AlteredTexts(table -> table instanceof ColonnadeTable));
    return BoxedUnit.UNIT;
  }
}
