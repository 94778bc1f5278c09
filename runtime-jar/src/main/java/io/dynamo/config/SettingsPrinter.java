package io.dynamo.config;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Lists all settings without a server: {@code java -cp runtime-jar.jar
 * io.dynamo.config.SettingsPrinter [file]}. Values are those of the system properties, the
 * environment and the operator's file, in this order. Needs only the JDK.
 */
public final class SettingsPrinter {
  private SettingsPrinter() {}

  /**
   * Prints the listing.
   *
   * @param args the operator's file, or nothing
   */
  public static void main(String[] args) throws IOException {
    if (args.length > 1 || (args.length == 1 && args[0].startsWith("-"))) {
      System.err.println("usage: SettingsPrinter [microprofile-config.properties]");
      System.exit(2);
    }
    var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    var settings = OfflineSettings.of(System.getenv(), args.length == 0 ? null : Path.of(args[0]));
    out.print(settings.listing("").text());
    var unsupported = settings.variablesWithoutEffect();
    if (unsupported != null) {
      out.println("without effect here: " + unsupported);
    }
  }
}
