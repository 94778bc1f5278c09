package io.dynamo.frontend.batches;

import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.batches.BatchLines.InputError;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks that every line of an input is a request of its batch. For one thread. */
final class InputCheck {
  private static final int MAX_ERRORS = 20;
  private static final int CHARGED_NAMES = 1000; // at once

  private final BatchLines lines;
  private final String endpoint;
  private final LineReader reader;
  private final int maxLines;
  private final RunStop stop;
  private final List<InputError> errors = new ArrayList<>();
  private final Set<Fingerprint> names = new HashSet<>();
  private long count;

  InputCheck(BatchLines lines, String endpoint, LineReader reader, int maxLines, RunStop stop) {
    this.lines = lines;
    this.endpoint = endpoint;
    this.reader = reader;
    this.maxLines = maxLines;
    this.stop = stop;
  }

  /** The number of lines, empty ones left out. */
  long count() {
    return count;
  }

  /** The first faults; none when the input is well. */
  List<InputError> errors() {
    return errors;
  }

  /** Reads all lines, or until there are too many faults or the run is to end. */
  void run() throws InterruptedException, RunStop.AbandonedException {
    try (var memory = lines.memory()) {
      while (!stop.isSet() && errors.size() < MAX_ERRORS && checkNext(memory)) {
        // goes on
      }
    }
    if (count == 0 && errors.isEmpty() && !stop.isSet()) {
      errors.add(new InputError("empty_file", "the input has no lines", 0));
    }
  }

  /** Checks a line; returns whether another may follow. */
  private boolean checkNext(BatchLines.Memory memory)
      throws InterruptedException, RunStop.AbandonedException {
    try {
      var text = reader.next();
      if (text == null) {
        return false;
      }
      if (++count > maxLines) {
        errors.add(
            new InputError(
                "too_many_lines",
                "the input has more than the %d lines of dynamo.frontend.batches.max-lines"
                    .formatted(maxLines),
                reader.number()));
        return false;
      }
      check(text, memory);
    } catch (MalformedLineException e) {
      errors.add(new InputError(e.code(), e.text(), reader.number()));
    }
    return true;
  }

  private void check(byte[] text, BatchLines.Memory memory)
      throws InterruptedException, MalformedLineException, RunStop.AbandonedException {
    try {
      if (names.size() % CHARGED_NAMES == 0) {
        stop.persistently(
            () -> {
              memory.hold((long) Fingerprint.BYTES * (names.size() + CHARGED_NAMES));
              return true;
            });
      }
      var name = customId(text).getBytes(StandardCharsets.UTF_8);
      if (!names.add(Fingerprint.of(name))) {
        throw new MalformedLineException("duplicate_custom_id", "`custom_id` was given before");
      }
    } catch (ApiException e) { // it takes more memory than there ever is
      throw new MalformedLineException("invalid_json_line", e.error().message());
    }
  }

  /** Reads the name of a line, when there is memory for it. */
  private String customId(byte[] text)
      throws InterruptedException, MalformedLineException, RunStop.AbandonedException {
    record Read(String customId, @Nullable MalformedLineException fault) {}
    var read =
        stop.persistently(
            () -> {
              try {
                return new Read(lines.read(text, endpoint).customId(), null);
              } catch (MalformedLineException e) {
                return new Read("", e);
              }
            });
    if (read.fault() != null) {
      throw read.fault();
    }
    return read.customId();
  }
}
