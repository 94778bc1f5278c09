package io.dynamo.it;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The runnable archive, unpacked under a strict umask into a fresh folder. Where the tests run as
 * root, its command is run as a user who owns nothing of it. Owned by one test thread.
 */
final class InstalledArchive {
  private static final String ARCHIVE = System.getProperty("dynamo.it.archive", "");
  private static final List<String> OTHER_USER =
      List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--");
  private static final int UNPACK_SECONDS = 120;

  /** The output of a command, from standard output and error together, and its exit status. */
  record Outcome(int status, String text) {}

  private final Path home;
  private final Path scratch;
  private final boolean asOtherUser;

  private InstalledArchive(Path home, Path scratch, boolean asOtherUser) {
    this.home = home;
    this.scratch = scratch;
    this.asOtherUser = asOtherUser;
  }

  /** Whether the build made the archive. */
  static boolean isBuilt() {
    return !ARCHIVE.isEmpty() && Files.exists(Path.of(ARCHIVE));
  }

  /** Unpacks the archive below {@code folder}. */
  static InstalledArchive unpackInto(Path folder) throws IOException, InterruptedException {
    return unpack(Path.of(ARCHIVE), folder);
  }

  /** Unpacks another archive below {@code folder}, which is empty. */
  static InstalledArchive unpack(Path archive, Path folder)
      throws IOException, InterruptedException {
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    var unpacked =
        run(
            List.of(
                "sh",
                "-c",
                "umask 077 && tar -xzf \"$1\" -C \"$2\"",
                "sh",
                archive + "",
                folder + ""),
            Map.of());
    if (unpacked.status() != 0) {
      throw new AssertionError("the archive cannot be unpacked: " + unpacked.text());
    }
    Path home;
    try (var made = Files.list(folder)) {
      home =
          made.filter(path -> path.getFileName().toString().startsWith("dynamo-"))
              .findFirst()
              .orElseThrow();
    }
    var scratch = Files.createDirectory(folder.resolve("scratch"));
    Files.setAttribute(scratch, "unix:mode", 01777); // as /tmp
    boolean root = System.getProperty("user.name").equals("root");
    return new InstalledArchive(home, scratch, root && canRunJava(scratch));
  }

  /** Whether the other user may read the folder and the JDK, which some keep in root's home. */
  private static boolean canRunJava(Path scratch) throws IOException, InterruptedException {
    var command = new ArrayList<>(OTHER_USER);
    command.addAll(
        List.of("sh", "-c", "test -x \"$1\" && test -w \"$2\"", "sh", java(), scratch.toString()));
    return run(command, Map.of()).status() == 0;
  }

  private static String java() {
    return System.getProperty("java.home") + "/bin/java";
  }

  /** The folder of the installation. */
  Path home() {
    return home;
  }

  /** A folder that servers may write. */
  Path scratch() {
    return scratch;
  }

  boolean isOtherUser() {
    return asOtherUser;
  }

  /** The size of every file of the installation, by its path. */
  Map<String, Long> files() throws IOException {
    var files = new TreeMap<String, Long>();
    try (var all = Files.walk(home)) {
      for (var file : all.toList()) {
        files.put(
            home.relativize(file).toString(), Files.isDirectory(file) ? -1 : Files.size(file));
      }
    }
    return files;
  }

  /** Runs {@code bin/dynamo} and waits for its end. */
  Outcome dynamo(Map<String, String> environment, String... arguments)
      throws IOException, InterruptedException {
    return run(command(arguments), environment(environment));
  }

  /** Starts {@code bin/dynamo}, its output in the file {@code console}; the caller ends it. */
  Process start(Path console, Map<String, String> environment, String... arguments)
      throws IOException {
    var builder = new ProcessBuilder(command(arguments));
    builder.environment().clear();
    builder.environment().putAll(environment(environment));
    return builder.redirectErrorStream(true).redirectOutput(console.toFile()).start();
  }

  private List<String> command(String... arguments) {
    return Stream.of(
            asOtherUser ? OTHER_USER : List.<String>of(),
            List.of(home.resolve("bin/dynamo").toString()),
            List.of(arguments))
        .flatMap(List::stream)
        .toList();
  }

  private Map<String, String> environment(Map<String, String> more) {
    var all = new LinkedHashMap<String, String>();
    all.put("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    all.put("HOME", scratch.toString());
    all.put("JAVA_HOME", System.getProperty("java.home"));
    all.putAll(more);
    return all;
  }

  private static Outcome run(List<String> command, Map<String, String> environment)
      throws IOException, InterruptedException {
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    if (!environment.isEmpty()) {
      builder.environment().clear();
      builder.environment().putAll(environment);
    }
    var process = builder.start();
    process.getOutputStream().close();
    var text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!process.waitFor(UNPACK_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError(command + " did not end: " + text);
    }
    return new Outcome(process.exitValue(), text);
  }
}
