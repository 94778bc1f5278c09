package io.dynamo.frontend.responses;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.frontend.ConversationBounds;
import io.dynamo.config.frontend.ResponsesSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of conversations that hold for each kind of database. */
abstract class ConversationStoreContract extends ResponseStoreContract {
  private static final int MANY = 1 << 20;

  ConversationTurn turn(String conversation, String items) {
    return new ConversationTurn(conversation, ConversationTurn.newId(), now, items.getBytes(UTF_8));
  }

  String created(ResponseStore store, String items) throws InterruptedException {
    var conversation = new Conversation(Conversation.newId(), now, "{\"a\":\"b\"}");
    store.conversations().create(conversation, turn(conversation.id(), items), soon());
    return conversation.id();
  }

  static LoadedConversation load(ResponseStore store, String id) throws InterruptedException {
    return store.conversations().load(id, MANY, soon(), ROOM);
  }

  static List<ConversationTurn> turns(ResponseStore store, String id) throws InterruptedException {
    return ((LoadedConversation.Complete) load(store, id)).turns();
  }

  static List<String> items(ResponseStore store, String id) throws InterruptedException {
    return turns(store, id).stream().map(it -> new String(it.items(), UTF_8)).toList();
  }

  private static ResponsesSettings bounded(ResponsesSettings of, ConversationBounds bounds) {
    return new ResponsesSettings(
        of.storing(),
        of.database(),
        of.user(),
        of.password(),
        of.folder(),
        Duration.ofHours(1),
        of.maxResponses(),
        of.maxBytes(),
        of.maxInputBytes(),
        of.queueBytes(),
        bounds);
  }

  @Test
  void conversationIsFoundWithItsTurnsInOrder() throws InterruptedException {
    var store = open(settings());
    var id = created(store, "[1]");
    now++;
    store.append(turn(id, "[2]"), null);
    assertThat(items(store, id)).as("before or after it is written").containsExactly("[1]", "[2]");
    assertThat(store.awaitRest(PATIENCE)).isTrue();
    assertThat(store.conversations().append(turn(id, "[3]"), MANY, soon()))
        .isEqualTo(Appended.DONE);

    assertThat(items(store, id)).containsExactly("[1]", "[2]", "[3]");
    assertThat(store.conversations().find(id, soon()))
        .hasValue(new Conversation(id, now - 1, "{\"a\":\"b\"}"));
  }

  @Test
  void turnThatIsAddedTwiceIsThereOnce() throws InterruptedException {
    var store = open(settings());
    var id = created(store, "[1]");
    var turn = turn(id, "[2]");

    for (int i = 0; i < 2; i++) {
      assertThat(store.conversations().append(turn, MANY, soon())).isEqualTo(Appended.DONE);
      store.append(turn, response(null, "{}"));
      assertThat(store.awaitRest(PATIENCE)).isTrue();
    }

    assertThat(items(store, id)).containsExactly("[1]", "[2]");
    assertThat(metrics.counter(ResponseMetrics.LOST).value()).isZero();
  }

  @Test
  void responseOfAConversationIsStoredBesideIt() throws InterruptedException {
    var store = open(settings());
    var id = created(store, "[1]");
    var response = response(null, "{}");
    store.append(new ConversationTurn(id, response.id(), now, "[2]".getBytes(UTF_8)), response);
    assertThat(store.find(response.id(), soon(), ROOM)).isPresent();
    assertThat(store.awaitRest(PATIENCE)).isTrue();
    assertThat(store.delete(response.id(), soon())).isTrue();

    assertThat(store.find(response.id(), soon(), ROOM)).isEmpty();
    assertThat(items(store, id)).as("its items stay").containsExactly("[1]", "[2]");
  }

  @Test
  void deletedConversationIsGoneAndTakesNoTurns() throws InterruptedException {
    var store = open(settings());
    var id = created(store, "[1]");

    assertThat(store.conversations().delete(id, soon())).isTrue();

    assertThat(store.conversations().delete(id, soon())).isFalse();
    assertThat(store.conversations().find(id, soon())).isEmpty();
    assertThat(load(store, id)).isInstanceOf(LoadedConversation.Missing.class);
    assertThat(store.conversations().append(turn(id, "[2]"), MANY, soon()))
        .isEqualTo(Appended.NO_CONVERSATION);
    assertThat(store.conversations().setMetadata(id, "{}", soon())).isFalse();
    store.append(turn(id, "[3]"), null);
    assertThat(store.awaitRest(PATIENCE)).isTrue();
    assertThat(load(store, id)).isInstanceOf(LoadedConversation.Missing.class);
  }

  @Test
  void idsOfAnotherFormAreNeverLookedFor() throws InterruptedException {
    var store = open(settings());

    for (var id : List.of("", "conv_1", "conv_' OR ''='", "resp_" + "0".repeat(32))) {
      assertThat(store.conversations().find(id, soon())).isEmpty();
      assertThat(load(store, id)).isInstanceOf(LoadedConversation.Missing.class);
      assertThat(store.conversations().delete(id, soon())).isFalse();
    }
  }

  @Test
  void metadataIsReplaced() throws InterruptedException {
    var store = open(settings());
    var id = created(store, "[]");

    assertThat(store.conversations().setMetadata(id, "{\"ü\":\"x\"}", soon())).isTrue();

    assertThat(store.conversations().find(id, soon()))
        .hasValueSatisfying(it -> assertThat(it.metadata()).isEqualTo("{\"ü\":\"x\"}"));
  }

  @Test
  void turnIsReplacedUnlessItWasChangedSince() throws InterruptedException {
    var store = open(settings());
    var id = created(store, "[1,2,3]");
    var loaded = turns(store, id).getFirst();
    var conversations = store.conversations();

    assertThat(conversations.replace(loaded, "[1,2]".getBytes(UTF_8), soon())).isTrue();
    assertThat(conversations.replace(loaded, "[1,3]".getBytes(UTF_8), soon())).isFalse();
    assertThat(items(store, id)).containsExactly("[1,2]");
    assertThat(conversations.replace(turns(store, id).getFirst(), null, soon())).isTrue();
    assertThat(items(store, id)).isEmpty();
  }

  @Test
  void conversationAboveTheBoundIsNeitherLoadedNorExtended() throws InterruptedException {
    var store = open(settings());
    var id = created(store, "[\"" + "x".repeat(2000) + "\"]");

    assertThat(store.conversations().load(id, 2000, soon(), ROOM))
        .isInstanceOf(LoadedConversation.TooLong.class);
    assertThat(store.conversations().append(turn(id, "[2]"), 2500, soon()))
        .isEqualTo(Appended.TOO_LONG);
    assertThat(store.conversations().append(turn(id, "[2]"), 3000, soon()))
        .isEqualTo(Appended.DONE);
  }

  @Test
  void memoryIsReservedBeforeItemsAreLoaded() throws InterruptedException {
    var store = open(settings());
    var id = created(store, "[\"" + "x".repeat(10_000) + "\"]");
    var reserved = new ArrayList<Long>();

    store.conversations().load(id, MANY, soon(), reserved::add);

    assertThat(reserved).hasSize(1).first().satisfies(it -> assertThat(it).isGreaterThan(30_000));
  }

  @Test
  void conversationThatIsNotUsedExpires() throws InterruptedException {
    var store = open(settings());
    var unused = created(store, "[1]");
    var used = created(store, "[1]");
    now += Duration.ofMinutes(59).toMillis();
    store.append(turn(used, "[2]"), null);
    assertThat(store.awaitRest(PATIENCE)).isTrue();
    now += Duration.ofMinutes(2).toMillis();

    assertThat(store.conversations().find(unused, soon())).isEmpty();
    assertThat(load(store, unused)).isInstanceOf(LoadedConversation.Missing.class);
    assertThat(items(store, used)).containsExactly("[1]", "[2]");
  }

  @Test
  void thoseThatWereNotUsedForLongestAreDeletedAtTheBound() throws InterruptedException {
    var store = open(bounded(settings(), new ConversationBounds(20, 1 << 30)));
    var first = created(store, "[]");
    var ids = new ArrayList<String>();
    for (int i = 0; i < 100; i++) {
      now++;
      ids.add(created(store, "[]"));
      store.conversations().append(turn(first, "[]"), MANY, soon());
    }

    assertThat(store.conversations().find(first, soon())).as("used last").isPresent();
    int kept = 0;
    for (var id : ids) {
      kept += store.conversations().find(id, soon()).isPresent() ? 1 : 0;
    }
    assertThat(kept).as("one sweep in 64").isBetween(18, 19 + 64);
    assertThat(store.conversations().find(ids.getFirst(), soon())).isEmpty();
  }

  @Test
  void bytesOfAllConversationsAreBounded() throws InterruptedException {
    var store = open(bounded(settings(), new ConversationBounds(1000, 1 << 20)));
    var text = "[\"" + "x".repeat(100_000) + "\"]";
    var ids = new ArrayList<String>();
    for (int i = 0; i < 30; i++) {
      now++;
      ids.add(created(store, text));
    }

    int kept = 0;
    for (var id : ids) {
      kept += store.conversations().find(id, soon()).isPresent() ? 1 : 0;
    }
    assertThat(kept).isBetween(8, 11);
    assertThat(store.conversations().find(ids.getLast(), soon())).isPresent();
  }
}
