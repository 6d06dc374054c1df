/**
 * Everything that depends on classes which Spark does not promise to keep. Each class names the
 * Spark versions it was seen on.
 *
 * <pre>
 *   the running statement    RunningStatement, PlannedQuery, Caller, ConnectCall, StatementTag,
 *                            FrameLayout
 *   the version of Spark     SparkVersion
 *   rules of a session       SparkRules, RuleSwitch, SwitchedRule, SwitchedStrategy, SessionRules,
 *                            AnalyzerRules, OwnCatalog, LoadCatalogFirst,
 *                            StreamSession, PaddedDeletes, OutermostParser,
 *                            StatementParameters
 *   names of tables          NamedTables, CachedReads
 *   expressions              ColumnMapping, ReadColumns, ColumnValues, FoldedDefault
 *   reads                    AnswersAsRows, OfferedColumns, StatedReads
 *   overwrite and MERGE      SparkCondition, MergeJoin, GivenColumns, KeyedMerges, KeyedMerge,
 *                            ReducedMerges
 *   UPDATE and MERGE         RowChanges, StarClauses, ToldChange
 *   UPDATE and MERGE that
 *     replace columns        ColumnUpdates, ColumnUpdateExec, SetColumns, UpdatedColumns,
 *                            MergedColumns, MergeOutput, NamedColumns
 *   columns that rows bring  EvolvingWrites, EvolvingInserts
 *   ALTER TABLE              AlteredFields, AlteredTexts
 *   CHECK constraints        CheckCondition, CharComparisons, ChecksByCatalog, ColumnChecks,
 *                            ContradictingRow
 *   generated columns        FillGenerated, ExpiringRows, FilledRows, FilledChange,
 *                            ComputedExpression, ShownGenerated
 *   identity columns         AssignedColumns, IdentityChecks, IdentityEndpoint, DriverDraws
 * </pre>
 *
 * <p>Decisions: docs/decisions/spark-jar.md
 */
package colonnade.spark.quirks;
