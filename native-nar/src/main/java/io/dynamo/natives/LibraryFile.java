package io.dynamo.natives;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Loads a library from a resource into the process, through a file of its own, since a JVM refuses
 * one path in two class loaders. A folder is skipped when it cannot be written, is mounted noexec
 * or lets other users replace the file.
 */
final class LibraryFile {
  /** Opens the library's bytes. */
  interface Source {
    /** Opens the library; null when there is none. */
    @Nullable InputStream open() throws IOException;
  }

  /**
   * The result of an attempt to load.
   *
   * @param directory the folder that it was loaded from, or null when it was not loaded
   * @param refusals why each earlier folder was skipped, or why there was nothing to load
   */
  record Outcome(@Nullable Path directory, List<String> refusals) {
    Outcome {
      refusals = List.copyOf(refusals);
    }
  }

  private LibraryFile() {}

  /**
   * Tries the folders in order.
   *
   * @param load passes a file to the JVM
   */
  static Outcome load(String name, Source source, List<String> directories, Consumer<Path> load) {
    var refusals = new ArrayList<String>();
    for (var directory : directories) {
      try (var in = source.open()) {
        if (in == null) {
          return new Outcome(null, List.of("there is no " + name + " for this platform"));
        }
        var folder = Path.of(directory).toAbsolutePath();
        loadFrom(folder, in, load);
        return new Outcome(folder, refusals);
      } catch (IOException | UnsatisfiedLinkError | InvalidPathException e) {
        refusals.add(directory + ": " + e);
      }
    }
    return new Outcome(null, refusals);
  }

  private static void loadFrom(Path directory, InputStream in, Consumer<Path> load)
      throws IOException {
    var folder = UnpackFolder.make(directory, "dynamo-native-");
    var copy = folder.resolve("libdynamonative.so");
    try {
      Files.copy(in, copy);
      load.accept(copy);
    } finally {
      Files.deleteIfExists(copy); // the mapping outlives the file
      Files.deleteIfExists(folder);
    }
  }
}
