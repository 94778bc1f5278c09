package io.dynamo.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Reads the instances that are registered in a folder of file discovery. */
final class Discovered {
  private Discovered() {}

  /** Workers whose instance is there. */
  static long workers(Path store) {
    var instances = store.resolve("v1/instances");
    if (!Files.isDirectory(instances)) {
      return 0;
    }
    try (var records = Files.list(instances)) {
      return records.filter(record -> record.getFileName().toString().contains("generate")).count();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /** Waits until so many are there and no more; whoever was killed is until its lease is over. */
  static void await(Path store, int count, Duration limit) {
    Polling.until(count + " workers are registered", limit, () -> workers(store) == count);
  }
}
