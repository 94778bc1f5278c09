package io.dynamo.worker.engine.mock;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/**
 * Reads from a file which fault a simulated engine shows at this moment; no file is no fault. For
 * tests of what surrounds an engine. Safe for concurrent use.
 */
public final class FaultSwitch {
  /** The faults that a simulated engine can show. */
  public enum Fault {
    /** Nothing. */
    NONE,
    /** Each call throws an exception without a type. */
    THROWS,
    /** Streams stop for good, and no pass is reported. */
    HANGS,
    /** Streams end in an exception without a type. */
    BREAKS,
    /** Streams have a token that is in no vocabulary. */
    POISONS
  }

  private final Path file;

  /**
   * @param file has the name of a fault in lower case
   */
  public FaultSwitch(Path file) {
    this.file = file;
  }

  /**
   * @throws IllegalArgumentException when the file says something else
   * @throws UncheckedIOException when it cannot be read
   */
  Fault now() {
    String text;
    try {
      text = Files.readString(file).strip();
    } catch (NoSuchFileException _) {
      return Fault.NONE;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
    for (var fault : Fault.values()) {
      if (fault.name().toLowerCase(Locale.ROOT).equals(text)) {
        return fault;
      }
    }
    throw new IllegalArgumentException(
        "%s says \"%s\", which is none of %s in lower case"
            .formatted(file, text, Arrays.toString(Fault.values())));
  }
}
