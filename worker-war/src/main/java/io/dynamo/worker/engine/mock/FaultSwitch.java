package io.dynamo.worker.engine.mock;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/**
 * Reads from a file the fault that a simulated engine shows at the moment; without a file there is
 * no fault. For tests of what surrounds an engine. Safe for concurrent use.
 */
public final class FaultSwitch {
  /** The faults that a simulated engine can show. */
  public enum Fault {
    /** The engine works normally. */
    NONE,
    /** Each call throws an untyped exception. */
    THROWS,
    /** Streams stop for good, and no pass is reported. */
    HANGS,
    /** Streams end in an untyped exception. */
    BREAKS,
    /** Streams contain a token that is in no vocabulary. */
    POISONS
  }

  private final Path file;

  /**
   * @param file contains the name of a fault in lower case
   */
  public FaultSwitch(Path file) {
    this.file = file;
  }

  /**
   * Returns the fault that the file names.
   *
   * @throws IllegalArgumentException when the file contains anything else
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
