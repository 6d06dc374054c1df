package colonnade.planner;

import java.io.File;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.sql.RuntimeConfig;
import org.apache.spark.sql.SparkSession;

/**
 * Which Python runs the planner, and where it finds Colonnade: one planner process for each.
 *
 * @param python the interpreter
 * @param setBy what named it, for messages
 * @param path folders to import from before those that the interpreter knows, or empty
 * @param startSeconds how long it may take to answer at all
 */
record PlannerCommand(String python, String setBy, String path, int startSeconds) {
  static final String PYTHON = "spark.colonnade.python";
  static final String PATH = "spark.colonnade.pythonPath";
  static final String START_SECONDS = "spark.colonnade.planner.startSeconds";

  /**
   * Python would import from the folder that Spark runs in first, where one of the user's may be
   * called {@code colonnade}: PYTHONSAFEPATH says so only to Python 3.11 and later.
   */
  private static final String MAIN =
      "import sys; sys.path[:] = filter(None, sys.path); import runpy;"
          + " runpy.run_module('colonnade.spark_ext.planner', run_name='__main__')";

  /** As the session of this thread configures it, or else the environment of the driver. */
  static PlannerCommand configured() throws ColonnadeException {
    // While Spark reads a view, SQLConf.get() has the settings that the view was created with.
    RuntimeConfig conf = SparkSession.active().conf();
    String path = conf.get(PATH, "");
    int startSeconds = wholeSeconds(conf.get(START_SECONDS, "60"));
    String python = conf.get(PYTHON, "");
    if (!python.isEmpty()) {
      return new PlannerCommand(python, PYTHON, path, startSeconds);
    }
    for (String name : new String[] {"PYSPARK_DRIVER_PYTHON", "PYSPARK_PYTHON"}) {
      String value = System.getenv(name);
      if (value != null && !value.isBlank()) {
        return new PlannerCommand(value, name, path, startSeconds);
      }
    }
    return new PlannerCommand("python3", "the PATH", path, startSeconds);
  }

  private static int wholeSeconds(String text) throws ColonnadeException {
    if (text.matches("[1-9][0-9]{0,5}")) {
      return Integer.parseInt(text);
    }
    String sentence = START_SECONDS + " must be a whole number of seconds, not '" + text + "'.";
    throw new ColonnadeException("COLONNADE_INVALID_INPUT", sentence);
  }

  /** A process to start: requests on its input, replies on its output, all else in {@code log}. */
  ProcessBuilder process(File log) {
    ProcessBuilder builder = new ProcessBuilder(python, "-c", MAIN);
    builder.redirectError(ProcessBuilder.Redirect.appendTo(log));
    var environment = builder.environment();
    String inherited = environment.get("PYTHONPATH");
    String joined =
        Stream.of(path, inherited)
            .filter(part -> part != null && !part.isEmpty())
            .collect(Collectors.joining(File.pathSeparator));
    if (!joined.isEmpty()) {
      environment.put("PYTHONPATH", joined);
    }
    environment.put("COLONNADE_PLANNER_LOG", log.getPath());
    environment.put("COLONNADE_SPARK_VERSION", SparkSession.active().version());
    return builder;
  }
}
