package io.dynamo.frontend.batches;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.frontend.ConversationBounds;
import io.dynamo.config.frontend.ResponsesSettings;
import io.dynamo.config.frontend.ResponsesSettings.Storing;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.responses.Database;
import io.dynamo.frontend.responses.PostgresProcess;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Files and batches in a real PostgreSQL, which two frontends share. */
class PostgresBatchesTest extends BatchContract {
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

  @Override
  ResponsesSettings database() {
    var running = Objects.requireNonNull(server);
    return new ResponsesSettings(
        Storing.OFF,
        running.url(),
        running.user(),
        null,
        Path.of("unused"),
        Duration.ofHours(1),
        1000,
        1 << 30,
        8 << 20,
        32 << 20,
        new ConversationBounds(100, 1 << 20));
  }

  @Override
  @AfterEach
  void close() throws Exception {
    super.close();
    try (var connection = Database.of(database()).open();
        var statement = connection.createStatement()) {
      for (var table : new String[] {"dynamo_batches", "dynamo_file_pieces", "dynamo_files"}) {
        statement.execute("DROP TABLE IF EXISTS " + table);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void batchWaitsForADatabaseThatWasKilled() throws Exception {
    var running = Objects.requireNonNull(server);
    var killed = new CountDownLatch(1);
    lines.answers =
        line -> {
          if (line.equals("b")) {
            running.kill();
            killed.countDown();
          }
          return ScriptedLines.well(line);
        };
    var store = open();
    var batch = create(store, "a\nb\nc\n");
    run(store).wake();
    assertThat(killed.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    await("its last connections break", () -> !answers(store, batch));

    running.restart();
    await("the database, which repairs itself first", () -> answers(store, batch));
    var done = ended(store, batch);

    assertThat(done.status()).isEqualTo(BatchStatus.COMPLETED);
    assertThat(text(store, done.outputFile())).isEqualTo("a=200\nb=200\nc=200\n");
  }

  private static boolean answers(BatchStore store, StoredBatch batch) {
    try {
      return found(store, batch).id().equals(batch.id());
    } catch (ApiException e) {
      return false;
    }
  }

  @Test
  void onlyOneOfTwoFrontendsRunsABatch() throws Exception {
    var one = open();
    var other = open();
    var batch = create(one, "a\nb\nc\nd\n");
    var first = run(one);
    var second = run(other);
    first.wake();
    second.wake();

    assertThat(ended(other, batch).completed()).isEqualTo(4);
    assertThat(lines.asked).containsExactlyInAnyOrder("a", "b", "c", "d");
  }
}
