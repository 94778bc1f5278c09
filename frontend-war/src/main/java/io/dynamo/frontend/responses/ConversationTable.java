package io.dynamo.frontend.responses;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The statements on the tables of conversations and their turns, for one connection and one thread.
 * Who changes the turns of a conversation locks its row first.
 */
final class ConversationTable {
  private static final int DELETED_AT_ONCE = 500;
  private static final String TURNS = "dynamo_conversation_turns";
  private static final List<String> TABLES =
      List.of(
          """
          CREATE TABLE IF NOT EXISTS dynamo_conversations (
            id VARCHAR(64) PRIMARY KEY,
            created BIGINT NOT NULL,
            used BIGINT NOT NULL,
            turns BIGINT NOT NULL,
            bytes BIGINT NOT NULL,
            metadata VARCHAR(100000) NOT NULL,
            CONSTRAINT dynamo_conversations_used UNIQUE (used, id))
          """,
          """
          CREATE TABLE IF NOT EXISTS dynamo_conversation_turns (
            conversation VARCHAR(64) NOT NULL REFERENCES dynamo_conversations (id) ON DELETE CASCADE,
            turn_number BIGINT NOT NULL,
            id VARCHAR(64) NOT NULL,
            created BIGINT NOT NULL,
            bytes BIGINT NOT NULL,
            items %s NOT NULL,
            PRIMARY KEY (conversation, id))
          """);

  private final Sql sql;

  ConversationTable(Sql sql) {
    this.sql = sql;
  }

  /** Creates the tables unless they are there: the last one is looked for. */
  void create(String bytesType) throws SQLException {
    for (var table : TABLES) {
      if (exists()) {
        return; // without asking for the right to create one
      }
      try {
        sql.execute(table.formatted(bytesType));
      } catch (SQLException e) {
        if (!sql.exists(table.strip().split("\\s+", 7)[5])) {
          throw e; // another frontend did not create it at the same time
        }
      }
    }
  }

  boolean exists() throws SQLException {
    return sql.exists(TURNS);
  }

  /** Whether any schema has the tables; unlike {@link #exists} it leaves no error in a log. */
  boolean isListed() throws SQLException {
    return sql.number(
            "SELECT COUNT(*) FROM information_schema.tables WHERE LOWER(table_name) = '"
                + TURNS
                + "'")
        > 0;
  }

  /** Adds a conversation; one that is there already stays. */
  void add(Conversation conversation) throws SQLException {
    try {
      sql.update(
          "INSERT INTO dynamo_conversations (id, created, used, turns, bytes, metadata)"
              + " VALUES (?, ?, ?, 0, ?, ?)",
          conversation.id(),
          conversation.createdMillis(),
          conversation.createdMillis(),
          (long) ConversationTurn.ROW_BYTES + conversation.metadata().length(),
          conversation.metadata());
    } catch (SQLException e) {
      if (!Sql.isDuplicate(e)) {
        throw e;
      }
    }
  }

  /**
   * Finds a conversation.
   *
   * @param sinceMillis it was used then, or later
   */
  Optional<Conversation> find(String id, long sinceMillis) throws SQLException {
    return sql
        .query(
            row -> new Conversation(row.getString(1), row.getLong(2), row.getString(3)),
            "SELECT id, created, metadata FROM dynamo_conversations WHERE id = ? AND used >= ?",
            id,
            sinceMillis)
        .stream()
        .findFirst();
  }

  /** Returns whether the conversation is there. */
  boolean setMetadata(String id, String metadata, long sinceMillis) throws SQLException {
    return sql.update(
            "UPDATE dynamo_conversations SET metadata = ? WHERE id = ? AND used >= ?",
            metadata,
            id,
            sinceMillis)
        > 0;
  }

  /** Deletes a conversation with its turns; returns whether it was there. */
  boolean delete(String id) throws SQLException {
    return sql.update("DELETE FROM dynamo_conversations WHERE id = ?", id) > 0;
  }

  /** The number and the bytes of the turns of a conversation. */
  record Size(long newestNumber, long bytes) {}

  /** Measures the turns of a conversation without loading their items. */
  Size size(String id) throws SQLException {
    return sql.query(
            row -> new Size(row.getLong(1), row.getLong(2)),
            "SELECT COALESCE(MAX(turn_number), 0), COALESCE(SUM(bytes), 0) FROM "
                + TURNS
                + " WHERE conversation = ?",
            id)
        .getFirst();
  }

  /** Returns the turns of a conversation up to a number, the oldest first. */
  List<ConversationTurn> turns(String id, long newestNumber) throws SQLException {
    return sql.query(
        row -> new ConversationTurn(id, row.getString(1), row.getLong(2), row.getBytes(3)),
        "SELECT id, created, items FROM "
            + TURNS
            + " WHERE conversation = ? AND turn_number <= ? ORDER BY turn_number",
        id,
        newestNumber);
  }

  /** The bounds on a conversation to which a turn is added. */
  record AppendBounds(long sinceMillis, long maxBytes) {
    static final AppendBounds NONE = new AppendBounds(Long.MIN_VALUE, Long.MAX_VALUE);
  }

  /** Adds a turn in a transaction of its own; one that is there already stays. */
  Appended append(ConversationTurn turn, AppendBounds limits) throws SQLException {
    try {
      return sql.atomically(() -> appendWithin(turn, limits));
    } catch (SQLException e) {
      if (Sql.isDuplicate(e)) {
        return Appended.DONE; // the answer to an earlier commit was lost
      }
      throw e;
    }
  }

  /** Adds a turn in the transaction of the caller. */
  Appended appendWithin(ConversationTurn turn, AppendBounds limits) throws SQLException {
    var number = lockedTurns(turn.conversation(), limits.sinceMillis());
    if (number.isEmpty()) {
      return Appended.NO_CONVERSATION;
    }
    if (limits.maxBytes() < Long.MAX_VALUE
        && size(turn.conversation()).bytes() + turn.bytes() > limits.maxBytes()) {
      return Appended.TOO_LONG;
    }
    sql.update(
        "INSERT INTO "
            + TURNS
            + " (conversation, turn_number, id, created, bytes, items) VALUES (?, ?, ?, ?, ?, ?)",
        turn.conversation(),
        number.get() + 1,
        turn.id(),
        turn.createdMillis(),
        turn.bytes(),
        turn.items());
    sql.update(
        "UPDATE dynamo_conversations SET turns = turns + 1, bytes = bytes + ?, used = ? WHERE id ="
            + " ?",
        turn.bytes(),
        turn.createdMillis(),
        turn.conversation());
    return Appended.DONE;
  }

  /** Locks the row of a conversation; returns how many turns it has had, empty without one. */
  private Optional<Long> lockedTurns(String id, long sinceMillis) throws SQLException {
    return sql
        .query(
            row -> row.getLong(1),
            "SELECT turns FROM dynamo_conversations WHERE id = ? AND used >= ? FOR UPDATE",
            id,
            sinceMillis)
        .stream()
        .findFirst();
  }

  /**
   * Replaces a turn unless it was changed since it was loaded.
   *
   * @param items JSON array in UTF-8; null deletes the turn
   * @return whether it was replaced
   */
  boolean replace(ConversationTurn loaded, byte @Nullable [] items) throws SQLException {
    return sql.atomically(
        () -> {
          if (lockedTurns(loaded.conversation(), Long.MIN_VALUE).isEmpty()) {
            return false;
          }
          long bytes = items == null ? 0 : items.length + (long) ConversationTurn.ROW_BYTES;
          var place = " WHERE conversation = ? AND id = ? AND bytes = ?";
          int changed =
              items == null
                  ? sql.update(
                      "DELETE FROM " + TURNS + place,
                      loaded.conversation(),
                      loaded.id(),
                      loaded.bytes())
                  : sql.update(
                      "UPDATE " + TURNS + " SET bytes = ?, items = ?" + place,
                      bytes,
                      items,
                      loaded.conversation(),
                      loaded.id(),
                      loaded.bytes());
          if (changed > 0) {
            sql.update(
                "UPDATE dynamo_conversations SET bytes = bytes - ? WHERE id = ?",
                loaded.bytes() - bytes,
                loaded.conversation());
          }
          return changed > 0;
        });
  }

  /** Deletes some that were last used before a time; returns whether there may be more. */
  boolean deleteUnused(long sinceMillis) throws SQLException {
    return sql.update(
            "DELETE FROM dynamo_conversations WHERE id IN (SELECT id FROM dynamo_conversations"
                + " WHERE used < ? ORDER BY used, id LIMIT "
                + DELETED_AT_ONCE
                + ")",
            sinceMillis)
        >= DELETED_AT_ONCE;
  }

  /** The number of conversations and the bytes of all. */
  record Extent(long conversations, long bytes) {
    boolean isWithin(long maxConversations, long maxBytes) {
      return conversations <= maxConversations && bytes <= maxBytes;
    }
  }

  Extent extent() throws SQLException {
    return sql.query(
            row -> new Extent(row.getLong(1), row.getLong(2)),
            "SELECT COUNT(*), COALESCE(SUM(bytes), 0) FROM dynamo_conversations")
        .getFirst();
  }

  /** Deletes some of those that were not used for longest, towards the bounds. */
  Extent trim(Extent present, long maxConversations, long maxBytes) throws SQLException {
    var left = present;
    var doomed = new ArrayList<String>();
    record Row(String id, long bytes) {}
    for (var row :
        sql.query(
            it -> new Row(it.getString(1), it.getLong(2)),
            "SELECT id, bytes FROM dynamo_conversations ORDER BY used, id LIMIT "
                + DELETED_AT_ONCE)) {
      if (left.isWithin(maxConversations, maxBytes)) {
        break;
      }
      doomed.add(row.id());
      left = new Extent(left.conversations() - 1, left.bytes() - row.bytes());
    }
    for (var id : doomed) {
      delete(id);
    }
    return doomed.isEmpty() ? new Extent(0, 0) : left; // others deleted meanwhile
  }
}
