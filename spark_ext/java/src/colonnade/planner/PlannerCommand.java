package colonnade.planner;

import java.io.File;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.sql.RuntimeConfig;
import org.apache.spark.sql.SparkSession;

/**
 * The Python command that runs the planner. Each distinct command has its own planner process.
 *
 * @param python the interpreter
 * @param setBy the setting that named the interpreter, for messages
 * @param path folders to import from before those of the interpreter, or empty
 * @param startSeconds the most seconds until the first reply
 */
record PlannerCommand(String python, String setBy, String path, int startSeconds) {
  static final String PYTHON = "spark.colonnade.python";
  static final String PATH = "spark.colonnade.pythonPath";
  static final String START_SECONDS = "spark.colonnade.planner.startSeconds";

  /**
   * Removes the working folder from Python's import path, because it may contain a module of the
   * user with the name {@code colonnade}. PYTHONSAFEPATH does this only from Python 3.11 on.
   */
  private static final String MAIN =
      "import sys; sys.path[:] = filter(None, sys.path); import runpy;"
          + " runpy.run_module('colonnade.spark_ext.planner', run_name='__main__')";

  /**
   * Returns the command that the session of this thread configures, or else the driver's
   * environment.
   */
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

  /**
   * Returns the process to start. It reads requests from its input and writes replies to its
   * output. Everything else is written to {@code log}.
   */
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
