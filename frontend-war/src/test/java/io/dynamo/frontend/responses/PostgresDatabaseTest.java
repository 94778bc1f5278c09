package io.dynamo.frontend.responses;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.dynamo.config.frontend.ResponsesSettings;
import io.dynamo.frontend.ApiException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Responses in a real PostgreSQL, which is killed, too. */
class PostgresDatabaseTest extends ConversationStoreContract {
  private static @Nullable PostgresProcess server;

  @BeforeAll
  static void start() {
    server = PostgresProcess.start();
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      server.close();
    }
  }

  private static PostgresProcess server() {
    return Objects.requireNonNull(server);
  }

  @AfterEach
  void empty() throws SQLException {
    var database = new PostgresDatabase(server().url(), server().user(), null);
    try (var connection = database.open();
        var statement = connection.createStatement()) {
      statement.execute(
          "DROP TABLE IF EXISTS dynamo_responses, dynamo_conversation_turns, dynamo_conversations");
    }
  }

  @Override
  ResponsesSettings settings() {
    return standard(server().url(), server().user(), Path.of("unused"));
  }

  @Test
  void twoFrontendsShareResponses() throws InterruptedException {
    var one = open(settings());
    var other = open(settings());
    var first = written(one, null, "{}");
    var second = written(other, first.id(), "{}");

    assertThat(one.chain(second.id(), 1 << 20, soon(), ROOM))
        .isInstanceOf(ResponseChain.Complete.class);
    assertThat(other.delete(first.id(), soon())).isTrue();
    assertThat(one.find(first.id(), soon(), ROOM)).isEmpty();
  }

  @Test
  void deletionReplacesAConnectionThatBrokeWhileItWasIdle() throws Exception {
    var store = open(settings());
    var stored = written(store, null, "{}");
    var database = new PostgresDatabase(server().url(), server().user(), null);
    try (var connection = database.open();
        var statement = connection.createStatement()) {
      statement.execute(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
              + " AND application_name = 'dynamo'");
    }

    assertThat(store.delete(stored.id(), soon())).isTrue();
    assertThat(store.find(stored.id(), soon(), ROOM)).isEmpty();
  }

  @Test
  void responsesStoredDuringAnOutageAreReadableAndWrittenLater() throws InterruptedException {
    var store = open(settings());
    var before = written(store, null, "{}");
    assertThat(store.find(before.id(), soon(), ROOM)).as("on a pooled connection").isPresent();

    server().kill();
    var during = response(null, "{}");
    store.store(during);
    try {
      assertThat(store.find(during.id(), soon(), ROOM)).as("it waits").isPresent();
      assertThatThrownBy(() -> store.chain(before.id(), 1 << 20, soon(), ROOM))
          .asInstanceOf(type(ApiException.class))
          .satisfies(
              it -> {
                assertThat(it.error().status()).isEqualTo(503);
                assertThat(it.error().message()).contains("previous_response_id");
              });
      assertThatThrownBy(() -> store.delete(before.id(), soon())).isInstanceOf(ApiException.class);
    } finally {
      server().restart();
    }

    assertThat(store.awaitRest(PATIENCE)).isTrue();
    assertThat(open(settings()).find(during.id(), soon(), ROOM)).isPresent();
    assertThat(store.find(before.id(), soon(), ROOM)).isPresent();
    assertThat(metrics.counter(ResponseMetrics.LOST).value()).isZero();
  }

  @Test
  void answersToAConversationDuringAnOutageAreAddedLater() throws InterruptedException {
    var store = open(settings());
    var conversation = created(store, "[{\"id\":\"1\"}]");

    server().kill();
    store.append(turn(conversation, "[{\"id\":\"2\"}]"), null);
    try {
      assertThatThrownBy(() -> load(store, conversation))
          .asInstanceOf(type(ApiException.class))
          .satisfies(it -> assertThat(it.error().status()).isEqualTo(503));
      assertThatThrownBy(() -> created(store, "[]")).isInstanceOf(ApiException.class);
    } finally {
      server().restart();
    }

    assertThat(store.awaitRest(PATIENCE)).isTrue();
    assertThat(items(open(settings()), conversation))
        .containsExactly("[{\"id\":\"1\"}]", "[{\"id\":\"2\"}]");
    assertThat(metrics.counter(ResponseMetrics.LOST).value()).isZero();
  }

  @Test
  void frontendsAddToOneConversationAtOnce() throws Exception {
    var one = open(settings());
    var other = open(settings());
    var conversation = created(one, "[]");
    for (int i = 0; i < 50; i++) {
      one.append(turn(conversation, "[1]"), null);
      other.append(turn(conversation, "[2]"), response(null, "{}"));
    }
    assertThat(one.awaitRest(PATIENCE)).isTrue();
    assertThat(other.awaitRest(PATIENCE)).isTrue();

    assertThat(items(one, conversation)).hasSize(101).filteredOn("[1]"::equals).hasSize(50);
  }
}
