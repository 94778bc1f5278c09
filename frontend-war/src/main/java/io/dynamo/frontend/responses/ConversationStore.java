package io.dynamo.frontend.responses;

import io.dynamo.concurrent.Deadline;
import io.dynamo.frontend.ApiException;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Keeps conversations in the database of responses. Callers wait for it, a few seconds at most; the
 * turns of answers are written later, by the store of responses, and are found before. Every method
 * throws {@link ApiException} with 503 when the database does not answer. Safe for concurrent use.
 */
public final class ConversationStore {
  private static final System.Logger LOG = System.getLogger(ConversationStore.class.getName());
  private static final Duration WAIT = Duration.ofSeconds(5);

  /** As {@link ResponseStore} has it, and for all turns, as the driver loads them together. */
  private static final int LOADING_COPIES = 3;

  private final Database database;
  private final WaitingWrites waiting;
  private final ConversationSweep sweep;
  private final DatabasePool pool;

  ConversationStore(Database database, WaitingWrites waiting, ConversationSweep sweep) {
    this.database = database;
    this.waiting = waiting;
    this.sweep = sweep;
    this.pool = new DatabasePool("dynamo-conversations-", this::open);
  }

  /** Statements; run again on another connection when the first one broke while it was idle. */
  private interface Work<T> {
    T run(ConversationTable table) throws SQLException, TimeoutException;
  }

  /** Opens a connection, and makes the tables unless they are there. */
  private Connection open(Deadline deadline) throws SQLException, TimeoutException {
    var opened = database.open();
    boolean made = false;
    try {
      DatabasePool.requireTime(deadline);
      new ConversationTable(new Sql(opened)).create(database.bytesType());
      made = true;
      return opened;
    } finally {
      if (!made) {
        opened.close();
      }
    }
  }

  private <T> T write(Work<T> work, Deadline deadline) throws InterruptedException {
    var end = deadline.within(WAIT);
    return DatabaseReaders.translated(
        () ->
            pool.run(
                connection ->
                    work.run(new ConversationTable(new Sql(Objects.requireNonNull(connection)))),
                end));
  }

  /** Reads; where there is no database yet, none is made, and there is no conversation. */
  private <T> T read(String id, T none, Work<T> work, Deadline deadline)
      throws InterruptedException {
    return Conversation.isPossible(id) && database.mayHoldRows() ? write(work, deadline) : none;
  }

  /**
   * Creates a conversation.
   *
   * @param first its first items; null for none
   */
  public void create(Conversation conversation, @Nullable ConversationTurn first, Deadline deadline)
      throws InterruptedException {
    write(
        table -> {
          table.add(conversation);
          if (first != null) {
            table.append(first, ConversationTable.AppendBounds.NONE);
          }
          sweep.recordAdded(1, ConversationTurn.ROW_BYTES + (first == null ? 0 : first.bytes()));
          sweep(table);
          return true;
        },
        deadline);
  }

  /** Keeps the bounds, if it is time to; a failure is not the caller's, and it is done again. */
  private void sweep(ConversationTable table) {
    try {
      sweep.runIfDue(table);
    } catch (SQLException e) {
      LOG.log(Level.DEBUG, "conversations beyond the bounds could not be deleted", e);
    }
  }

  /** Finds a conversation. */
  public Optional<Conversation> find(String id, Deadline deadline) throws InterruptedException {
    return read(id, Optional.empty(), table -> table.find(id, sweep.oldestMillis()), deadline);
  }

  /** Replaces the metadata of a conversation; returns whether it is there. */
  public boolean setMetadata(String id, String metadata, Deadline deadline)
      throws InterruptedException {
    return read(
        id, false, table -> table.setMetadata(id, metadata, sweep.oldestMillis()), deadline);
  }

  /**
   * Deletes a conversation with its items; returns whether it was there. Turns of it that wait to
   * be written are dropped then.
   */
  public boolean delete(String id, Deadline deadline) throws InterruptedException {
    return read(id, false, table -> table.delete(id), deadline);
  }

  /**
   * Loads a conversation with its items, those among them that are not written yet.
   *
   * @param most bytes of all items
   */
  public LoadedConversation load(String id, long most, Deadline deadline, ResponseStore.Room room)
      throws InterruptedException {
    var unwritten = waiting.turns(id); // first: what is written meanwhile is found in both
    record Measured(@Nullable Conversation head, ConversationTable.Size size) {}
    var end = deadline.within(WAIT);
    var measured =
        read(
            id,
            new Measured(null, new ConversationTable.Size(0, 0)),
            table ->
                new Measured(table.find(id, sweep.oldestMillis()).orElse(null), table.size(id)),
            end);
    var head = measured.head();
    if (head == null) {
      return new LoadedConversation.Missing();
    }
    long bytes = measured.size().bytes();
    for (var turn : unwritten) {
      bytes += turn.bytes();
    }
    if (bytes > most) {
      return new LoadedConversation.TooLong();
    }
    room.reserve(LOADING_COPIES * bytes);
    var written =
        read(
            id,
            List.<ConversationTurn>of(),
            table -> table.turns(id, measured.size().newestNumber()),
            end);
    return new LoadedConversation.Complete(head, merged(written, unwritten));
  }

  private static List<ConversationTurn> merged(
      List<ConversationTurn> written, List<ConversationTurn> unwritten) {
    var ids = new HashSet<String>();
    written.forEach(turn -> ids.add(turn.id()));
    var turns = new ArrayList<>(written);
    for (var turn : unwritten) {
      if (ids.add(turn.id())) {
        turns.add(turn);
      }
    }
    return turns;
  }

  /**
   * Adds a turn to a conversation.
   *
   * @param most bytes of all items of the conversation
   */
  public Appended append(ConversationTurn turn, long most, Deadline deadline)
      throws InterruptedException {
    var bounds = new ConversationTable.AppendBounds(sweep.oldestMillis(), most);
    return read(
        turn.conversation(),
        Appended.NO_CONVERSATION,
        table -> {
          var result = table.append(turn, bounds);
          sweep.recordAdded(0, turn.bytes());
          sweep(table);
          return result;
        },
        deadline);
  }

  /** Waits until no turn of a conversation waits to be written; false when the time was over. */
  public boolean awaitWritten(String id, Deadline deadline) throws InterruptedException {
    return waiting.awaitTurns(id, deadline.within(WAIT).remainingNanos());
  }

  /**
   * Replaces the items of a turn unless the turn was changed since it was loaded.
   *
   * @param items JSON array in UTF-8; null deletes the turn
   * @return whether they were replaced
   */
  public boolean replace(ConversationTurn loaded, byte @Nullable [] items, Deadline deadline)
      throws InterruptedException {
    return read(loaded.conversation(), false, table -> table.replace(loaded, items), deadline);
  }

  /** Accepts no further work. */
  void shutdown() {
    pool.shutdown();
  }

  /** Waits for the last work and closes idle connections; returns false when some goes on. */
  boolean close(Duration timeout) throws InterruptedException {
    return pool.close(timeout);
  }
}
