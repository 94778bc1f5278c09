package io.dynamo.frontend.openai;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.frontend.ConversationBounds;
import io.dynamo.config.frontend.ResponsesSettings;
import io.dynamo.config.frontend.ResponsesSettings.Storing;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.FailureMeters;
import io.dynamo.frontend.openai.FrontendFixture.Recorded;
import io.dynamo.frontend.openai.wire.ResponseItems;
import io.dynamo.frontend.responses.ResponseIds;
import io.dynamo.frontend.responses.ResponseStore;
import io.dynamo.frontend.responses.StoredResponse;
import io.dynamo.metrics.Metrics;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests that look up stored responses, and their memory. */
class StoredAnswersTest {
  private static final Deadline DEADLINE = Deadline.after(Duration.ofMinutes(1));
  private static final long NOW = 1_800_000_000_000L;
  private static final InstantSource CLOCK = () -> Instant.ofEpochMilli(NOW);

  @TempDir Path folder;
  private final FrontendFixture frontend = new FrontendFixture();
  private @Nullable ResponseStore opened;

  @AfterEach
  void close() {
    frontend.closeIdle();
    if (opened != null) {
      opened.close();
    }
  }

  private ResponseStore open() {
    var store =
        new ResponseStore(
            new ResponsesSettings(
                Storing.ON_REQUEST,
                null,
                null,
                null,
                folder.resolve("responses"),
                Duration.ofHours(1),
                100,
                1 << 20,
                1000,
                1 << 20,
                new ConversationBounds(100, 1 << 20)),
            CLOCK,
            new Metrics());
    store.start();
    opened = store;
    return store;
  }

  /** Returns the id of a response in the database. */
  private String stored(int textBytes) {
    var store = open();
    var id = ResponseIds.next();
    var answer = "{\"output\":[{\"text\":\"" + "x".repeat(textBytes) + "\"}]}";
    store.store(
        new StoredResponse(
            id, null, NOW, "[{\"id\":\"1\"}]".getBytes(UTF_8), answer.getBytes(UTF_8)));
    store.close(); // written
    return id;
  }

  private Recorded answer(LookupCalls.Lookup lookup) {
    return answer(new Recorded(), lookup);
  }

  private Recorded answer(Recorded answer, LookupCalls.Lookup lookup) {
    LookupCalls.answer(answer, lookup, frontend.admission, new FailureMeters(frontend.metrics));
    assertThat(frontend.bodies.heldBytes()).isZero();
    return answer;
  }

  @Test
  void responsesBeyondTheMemoryBudgetAreNotLoaded() {
    var id = stored(100_000); // the fixture has 256 KiB
    var answers = new StoredAnswers(open(), 1 << 20);
    var page = ResponseItems.Page.of(null, null, null);

    assertThat(answer(share -> answers.response(id, DEADLINE, share)).status).isEqualTo(413);
    assertThat(answer(share -> answers.items(id, page, DEADLINE, share)).status).isEqualTo(413);
  }

  @Test
  void responsesWithinTheMemoryBudgetAreReturned() {
    var id = stored(10_000);
    var answers = new StoredAnswers(open(), 1 << 20);
    var page = ResponseItems.Page.of(null, null, null);

    assertThat(answer(share -> answers.response(id, DEADLINE, share)).text()).contains("xxx");
    assertThat(answer(share -> answers.items(id, page, DEADLINE, share)).text())
        .contains("\"first_id\":\"1\"");
  }

  @Test
  void memoryIsHeldUntilTheAnswerIsWritten() {
    var held = new AtomicLong();
    var id = stored(10_000);
    var answers = new StoredAnswers(open(), 1 << 20);

    answer(
        new Recorded() {
          @Override
          public void json(byte[] json) {
            held.set(frontend.bodies.heldBytes());
            super.json(json);
          }
        },
        share -> answers.response(id, DEADLINE, share));

    assertThat(held.get()).isGreaterThan(8_000);
  }

  @Test
  void unknownIdIsNotFound() {
    var answers = new StoredAnswers(open(), 1 << 20);
    var id = ResponseIds.next();

    assertThat(answer(share -> answers.response(id, DEADLINE, share)).status).isEqualTo(404);
    assertThatThrownBy(() -> answers.delete(id, DEADLINE)).isInstanceOf(ApiException.class);
  }

  @Test
  void errorIsAnsweredWithoutItsText() {
    var answer =
        answer(
            _ -> {
              throw new StackOverflowError("a fault");
            });

    assertThat(answer.status).isEqualTo(500);
    assertThat(answer.text()).doesNotContain("a fault");
  }
}
