package io.dynamo.cli;

import io.dynamo.json.JsonObject;
import io.dynamo.natives.NativeLibrary;
import java.util.Objects;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Option;

/** Prints the versions of the product, of Java and of the system, and whether native code runs. */
@Command(name = "version", description = "Prints the versions of the product and of Java.")
final class VersionCommand extends Subcommand {

  /** The line that {@code dynamo --version} prints. */
  static final class Line implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"dynamo " + product()};
    }
  }

  @Option(names = "--json", description = "Prints one line of JSON.")
  private boolean json;

  @Override
  public Integer call() {
    var out = out();
    var product = product();
    var java = Runtime.version().toString();
    var system = System.getProperty("os.name") + " " + System.getProperty("os.arch");
    var cause = NativeLibrary.cause();
    if (json) {
      Output.json(
          out,
          JsonObject.ordered(
              "version", product,
              "java", java,
              "java_home", System.getProperty("java.home"),
              "system", system,
              "native", cause == null));
    } else {
      out.println(new Line().getVersion()[0]);
      out.println("Java " + java + " in " + System.getProperty("java.home"));
      out.println(
          system
              + (cause == null
                  ? ", with the native library"
                  : ", without the native library: " + cause));
    }
    return ExitCode.DONE;
  }

  /** Returns the product's version; that of a build that is not packaged is not known. */
  static String product() {
    return Objects.requireNonNullElse(
        VersionCommand.class.getPackage().getImplementationVersion(), "of this build");
  }
}
