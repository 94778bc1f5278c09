package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.frontend.BatchesSettings;
import io.dynamo.config.frontend.ResponsesSettings;
import io.dynamo.config.frontend.ResponsesSettings.Storing;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.batches.BatchStore;
import io.dynamo.frontend.batches.Listing;
import java.io.ByteArrayInputStream;
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

  @TempDir Path folder;

  @SuppressWarnings("NullAway.Init") // before each
  private BatchStore store;

  private static String head(String name) {
    return "Content-Disposition: form-data; name=\"" + name + "\"\r\n\r\n";
  }

  @BeforeEach
  void open() {
    store =
        new BatchStore(
            new BatchesSettings(true, 1, 1, 1 << 20, 1024, 10, 1 << 20, 10, 10, Duration.ofDays(1)),
            new ResponsesSettings(
                Storing.OFF, null, null, null, folder.resolve("r"), Duration.ofDays(1), 1, 1, 1, 1),
            () -> Instant.ofEpochSecond(1_800_000_000),
            Duration.ofMinutes(1));
  }

  @AfterEach
  void close() {
    store.close();
  }

  private String take(String form) throws InterruptedException {
    var bodies = new BodyBudget(new BodyBudget.Limits(8 << 20, 1 << 20, 1024));
    try (var share = bodies.open()) {
      var body = new ByteArrayInputStream(form.getBytes(StandardCharsets.UTF_8));
      return new String(
          new FileUploads(store, Duration.ofSeconds(30)).take("me", TYPE, body, share),
          StandardCharsets.UTF_8);
    }
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
