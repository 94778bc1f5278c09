package io.dynamo.cli.cluster;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Looks for programs on the {@code PATH}, and where systems keep servers that users do not have
 * there.
 */
final class Programs {
  private Programs() {}

  static Optional<Path> find(String name) {
    var path = System.getenv().getOrDefault("PATH", "");
    return Stream.concat(
            Pattern.compile(Pattern.quote(File.pathSeparator)).splitAsStream(path),
            Stream.of("/usr/sbin", "/usr/local/sbin", "/usr/local/bin"))
        .filter(folder -> !folder.isEmpty())
        .map(folder -> Path.of(folder, name))
        .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
        .findFirst();
  }
}
