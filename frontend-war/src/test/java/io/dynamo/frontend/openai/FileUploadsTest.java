package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.frontend.BatchesSettings;
import io.dynamo.config.frontend.ConversationBounds;
import io.dynamo.config.frontend.FrontendAdmission;
import io.dynamo.config.frontend.ResponsesSettings;
import io.dynamo.config.frontend.ResponsesSettings.Storing;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.admission.RequestAdmission;
import io.dynamo.frontend.batches.BatchStore;
import io.dynamo.frontend.batches.Listing;
import io.dynamo.metrics.Metrics;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Forms with files, good and bad. */
class FileUploadsTest {
  private static final String TYPE = "multipart/form-data; boundary=b";
  private static final String PURPOSE = "--b\r\n" + head("purpose") + "batch\r\n";
  private static final String FILE =
      "--b\r\n" + head("file\"; filename=\"../in\u0001.jsonl") + "{}\n\r\n";

  private static final int ALL = 8 << 20;
  private static final int FREE = 1024;

  private final BodyBudget bodies = new BodyBudget(new BodyBudget.Limits(ALL, 1 << 20, FREE));
  private final RequestAdmission admission =
      new RequestAdmission(4, FrontendAdmission.STANDARD, bodies, _ -> false, new Metrics());

  @TempDir Path folder;

  @SuppressWarnings("NullAway.Init") // before each
  private BatchStore store;

  private static String head(String name) {
    return "Content-Disposition: form-data; name=\"" + name + "\"\r\n\r\n";
  }

  @BeforeEach
  void open() {
    admission.open();
    store =
        new BatchStore(
            new BatchesSettings(true, 1, 1, 1 << 20, 1024, 10, 1 << 20, 10, 10, Duration.ofDays(1)),
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
  }

  @AfterEach
  void close() {
    store.close();
  }

  private String take(String form) throws InterruptedException {
    return take(new ByteArrayInputStream(form.getBytes(StandardCharsets.UTF_8)));
  }

  private String take(InputStream body) throws InterruptedException {
    var account = admission.admit("files");
    try (var share = bodies.open()) {
      account.whenDisplaced(share::giveUp);
      return new String(
          new FileUploads(store, Duration.ofSeconds(30))
              .take("me", TYPE, body, new AdmittedCalls.Place(account, share)),
          StandardCharsets.UTF_8);
    } finally {
      account.end(null);
      assertThat(bodies.heldBytes()).isZero();
    }
  }

  /** A body of which {@code between} happens before its last bytes arrive. */
  private static InputStream body(String first, Runnable between, String last) {
    var rest =
        new ByteArrayInputStream(last.getBytes(StandardCharsets.UTF_8)) {
          private boolean begun;

          @Override
          public synchronized int read(byte[] into, int at, int length) {
            if (!begun) {
              begun = true;
              between.run();
            }
            return super.read(into, at, length);
          }
        };
    return new SequenceInputStream(
        new ByteArrayInputStream(first.getBytes(StandardCharsets.UTF_8)), rest);
  }

  @Test
  void uploadThatIsStillArrivingGivesItsMemoryToOthers() throws Exception {
    try (var other = bodies.open()) {
      var form =
          body(
              PURPOSE + FILE.substring(0, FILE.length() - 2) + "x".repeat(100_000),
              () -> {
                assertThat(bodies.heldBytes()).isGreaterThan(100_000);
                other.chargeComplete(ALL);
                assertThat(bodies.heldBytes()).as("of the other alone").isEqualTo(ALL - FREE);
                other.chargeComplete(0);
              },
              "\r\n--b--");

      assertThatThrownBy(() -> take(form))
          .isInstanceOfSatisfying(
              ApiException.class, e -> assertThat(e.error().status()).isEqualTo(503));
    }
    assertThat(kept()).isZero();
  }

  @Test
  void uploadChargesWhatItHolds() throws Exception {
    var form =
        body(
            PURPOSE + FILE.substring(0, FILE.length() - 2),
            () -> assertThat(bodies.heldBytes()).isLessThan(64 * 1024),
            "\r\n--b--");

    assertThat(take(form)).contains("\"bytes\":3");
  }

  @Test
  void filesOfSeveralPiecesArriveWhole() throws Exception {
    var content = "0123456789abcdef".repeat(40_000); // 625 KiB
    var form = PURPOSE + FILE.substring(0, FILE.length() - 5) + content + "\r\n--b--";

    assertThat(take(form)).contains("\"bytes\":" + content.length());
    var file = store.files().list("me", new Listing.Page("", 1, true), "").entries().getFirst();
    var text = new StringBuilder();
    for (var run = store.files().next(file.id(), 0);
        run.isPresent();
        run = store.files().next(file.id(), run.get().last() + 1)) {
      for (var piece : store.files().load(run.get())) {
        text.append(new String(piece, StandardCharsets.UTF_8));
      }
    }
    assertThat(text.toString()).isEqualTo(content);
  }

  private int kept() throws InterruptedException {
    return store.files().list("me", new Listing.Page("", 10, true), "").entries().size();
  }

  @Test
  void fileIsKeptWhateverTheOrderOfItsForm() throws Exception {
    assertThat(take(PURPOSE + FILE + "--b--"))
        .contains("\"object\":\"file\"", "\"bytes\":3", "\"filename\":\"in.jsonl\"")
        .contains(
            "\"purpose\":\"batch\"", "\"created_at\":1800000000", "\"expires_at\":1800086400");
    assertThat(take(FILE + PURPOSE + "--b--")).contains("\"bytes\":3");
    assertThat(
            take(
                FILE
                    + PURPOSE
                    + "--b\r\n"
                    + head("expires_after[anchor]")
                    + "created_at\r\n--b\r\n"
                    + head("expires_after[seconds]")
                    + "3600\r\n--b--"))
        .contains("\"expires_at\":1800003600");
    assertThat(kept()).isEqualTo(3);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "F | purpose",
        "P | no part `file`",
        "PFF | two parts `file`",
        "PPF | two parts `purpose`",
        "PFx | unknown field `x`",
        "Fq | must be \"batch\"",
        "PFs | from 3600 to 2592000",
        "PFa | created_at",
        "Pe | empty",
      })
  void badFormIsRefusedAndNothingIsKept(String parts, String message) throws Exception {
    var form = new StringBuilder();
    for (int i = 0; i < parts.length(); i++) {
      form.append(
          switch (parts.charAt(i)) {
            case 'P' -> PURPOSE;
            case 'F' -> FILE;
            case 'e' -> "--b\r\n" + head("file") + "\r\n";
            case 'q' -> "--b\r\n" + head("purpose") + "fine-tune\r\n";
            case 's' -> "--b\r\n" + head("expires_after[seconds]") + "1\r\n";
            case 'a' -> "--b\r\n" + head("expires_after[anchor]") + "now\r\n";
            default -> "--b\r\n" + head("x") + "1\r\n";
          });
    }
    assertThatThrownBy(() -> take(form + "--b--"))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining(message);
    assertThat(kept()).isZero();
  }

  @Test
  void formThatBreaksOffKeepsNothing() throws Exception {
    assertThatThrownBy(() -> take(PURPOSE + FILE.substring(0, FILE.length() - 2)))
        .hasMessageContaining("breaks off");
    assertThat(kept()).isZero();
  }
}
