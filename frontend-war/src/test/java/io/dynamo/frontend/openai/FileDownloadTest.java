package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.frontend.BatchesSettings;
import io.dynamo.config.frontend.ConversationBounds;
import io.dynamo.config.frontend.ResponsesSettings;
import io.dynamo.config.frontend.ResponsesSettings.Storing;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.batches.BatchStore;
import io.dynamo.frontend.batches.FileStore;
import io.dynamo.frontend.batches.StoredFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files on their way to clients that are fast, slow or gone. */
class FileDownloadTest {
  private static final int ALL = 2 << 20;
  private static final int FREE = 1024;
  private static final int PIECES = 3;

  private final BodyBudget bodies = new BodyBudget(new BodyBudget.Limits(ALL, 1 << 20, FREE));

  @TempDir Path folder;

  @SuppressWarnings("NullAway.Init") // before each
  private BatchStore store;

  @SuppressWarnings("NullAway.Init")
  private StoredFile file;

  @BeforeEach
  void open() throws InterruptedException {
    store =
        new BatchStore(
            new BatchesSettings(true, 1, 1, 4 << 20, 1024, 10, 4 << 20, 10, 10, Duration.ofDays(1)),
            new ResponsesSettings(
                Storing.OFF,
                null,
                null,
                null,
                folder.resolve("r"),
                Duration.ofDays(1),
                1,
                1,
                1,
                1,
                new ConversationBounds(100, 1 << 20)),
            () -> Instant.ofEpochSecond(1_800_000_000),
            Duration.ofMinutes(1));
    try (var upload = store.files().upload("me")) {
      for (int i = 0; i < PIECES; i++) {
        var piece = new byte[FileStore.PIECE_BYTES];
        piece[0] = (byte) i;
        upload.append(piece);
      }
      file = upload.complete("a", store.keep(0));
    }
  }

  @AfterEach
  void close() {
    store.close();
    assertThat(bodies.heldBytes()).isZero();
  }

  private void write(OutputStream to, BodyBudget.Share share, Duration time) throws Exception {
    var download = new FileDownload(store.files(), file, share, time);
    download.writeTo(to, download.open());
  }

  @Test
  void wholeFileIsWrittenInBoundedMemory() throws Exception {
    var to =
        new ByteArrayOutputStream() {
          @Override
          public synchronized void write(byte[] from, int at, int length) {
            assertThat(bodies.heldBytes()).isEqualTo(FileStore.PIECE_BYTES - FREE);
            super.write(from, at, length);
          }
        };
    try (var share = bodies.open()) {
      write(to, share, Duration.ofMinutes(1));
    }
    var all = to.toByteArray();

    assertThat(all).hasSize(PIECES * FileStore.PIECE_BYTES);
    assertThat(all[2 * FileStore.PIECE_BYTES]).isEqualTo((byte) 2);
  }

  @Test
  void slowClientGivesItsMemoryToOtherRequests() {
    try (var share = bodies.open();
        var other = bodies.open()) {
      var to =
          new ByteArrayOutputStream() {
            @Override
            public synchronized void write(byte[] from, int at, int length) {
              super.write(from, at, length);
              other.chargeComplete(ALL);
              assertThat(bodies.heldBytes()).as("of the other alone").isEqualTo(ALL - FREE);
            }
          };

      assertThatThrownBy(() -> write(to, share, Duration.ofMinutes(1)))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("breaks off");
      assertThat(to.size()).isLessThan(FileStore.PIECE_BYTES);
    }
  }

  @Test
  void clientThatTakesTooLongIsGivenUp() {
    try (var share = bodies.open()) {
      var none = Duration.ofSeconds(-1 - file.bytes() / FileDownload.SLOWEST_PACE);

      assertThatThrownBy(() -> write(OutputStream.nullOutputStream(), share, none))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("too slowly");
    }
  }

  @Test
  void fileThatFindsNoMemoryIsRefusedBeforeItsFirstByte() {
    try (var share = bodies.open();
        var other = bodies.open()) {
      other.chargeComplete(ALL);

      assertThatThrownBy(
              () -> new FileDownload(store.files(), file, share, Duration.ofMinutes(1)).open())
          .isInstanceOfSatisfying(
              ApiException.class, e -> assertThat(e.error().status()).isEqualTo(503));
    }
  }
}
