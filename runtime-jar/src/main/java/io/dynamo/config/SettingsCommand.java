package io.dynamo.config;

import io.dynamo.config.key.Lookup;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * Lists all settings without a server: {@code java -cp runtime-jar.jar
 * io.dynamo.config.SettingsCommand [file]}. Values are those of the system properties, the
 * environment and the operator's file, in this order. Needs only the JDK.
 */
public final class SettingsCommand {
  private SettingsCommand() {}

  /**
   * Prints the listing.
   *
   * @param args the operator's file, or nothing
   */
  public static void main(String[] args) throws IOException {
    if (args.length > 1 || (args.length == 1 && args[0].startsWith("-"))) {
      System.err.println("usage: SettingsCommand [microprofile-config.properties]");
      System.exit(2);
    }
    var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    out.print(listing(System.getenv(), args.length == 0 ? null : Path.of(args[0])).text());
    var unsupported = UnsupportedVariables.report(System.getenv());
    if (unsupported != null) {
      out.println("without effect here: " + unsupported);
    }
  }

  /**
   * @param file the operator's file; null for none
   */
  static SettingsListing listing(Map<String, String> environment, @Nullable Path file)
      throws IOException {
    var properties = new Properties();
    if (file != null) {
      try (var reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
        properties.load(reader);
      }
    }
    return SettingsListing.of(
        name -> {
          var property = System.getProperty(name);
          if (property != null) {
            return new Lookup.Found(property, "the system properties");
          }
          var found = inEnvironment(name, environment);
          var text = properties.getProperty(name);
          return found != null || text == null
              ? found
              : new Lookup.Found(text, String.valueOf(file));
        });
  }

  private static Lookup.@Nullable Found inEnvironment(
      String name, Map<String, String> environment) {
    for (var variable : UnknownNames.variables(name)) {
      var text = environment.get(variable);
      if (text != null) {
        return new Lookup.Found(text, "the variable " + variable);
      }
    }
    var alias = SettingKeys.alias(name, environment::get);
    return alias == null
        ? null
        : new Lookup.Found(
            alias.translation().apply(environment.getOrDefault(alias.variable(), "").strip()),
            "the variable " + alias.variable());
  }
}
