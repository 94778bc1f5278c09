package io.dynamo.frontend.batches;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.frontend.ConversationBounds;
import io.dynamo.config.frontend.ResponsesSettings;
import io.dynamo.config.frontend.ResponsesSettings.Storing;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files and batches in an embedded database. */
class EmbeddedBatchesTest extends BatchContract {
  @TempDir Path parent;

  @Override
  ResponsesSettings database() {
    return new ResponsesSettings(
        Storing.OFF,
        null,
        null,
        null,
        parent.resolve("responses"),
        Duration.ofHours(1),
        1000,
        1 << 30,
        8 << 20,
        32 << 20,
        new ConversationBounds(100, 1 << 20));
  }

  @Test
  void lookingMakesNoDatabase() throws Exception {
    var store = open();
    run(store);

    assertThat(store.list(ME, new Listing.Page("", 9, false)).entries()).isEmpty();
    assertThat(store.files().find(ME, Owners.newFile())).isEmpty();
    assertThat(store.files().isFull()).isFalse();
    assertThat(Files.exists(parent.resolve("responses"))).isFalse();
  }

  @Test
  void ownersAreToldApartByTheirCredentials() {
    assertThat(Owners.of(null)).isEqualTo(Owners.of(" ")).isEqualTo("nobody");
    assertThat(Owners.of("Bearer a")).isEqualTo(Owners.of(" Bearer a")).hasSize(32);
    assertThat(Owners.of("Bearer a")).isNotEqualTo(Owners.of("Bearer b"));
  }
}
