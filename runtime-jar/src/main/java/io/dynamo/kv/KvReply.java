package io.dynamo.kv;

import java.util.List;

/** The answer of a rank's publisher to a {@link KvQuery}. Ids are unsigned. */
public sealed interface KvReply {
  /**
   * The events from the requested start, under their own ids, to the latest.
   *
   * @param lastId id of the last event published or about to be published
   */
  record Events(List<RankEvent> events, long lastId) implements KvReply {
    public Events {
      events = List.copyOf(events);
    }
  }

  /**
   * All blocks that the rank holds, as events for an index that has nothing of the rank.
   *
   * @param events their ids have no meaning
   * @param lastId id of the last event that the dump contains
   */
  record TreeDump(List<RankEvent> events, long lastId) implements KvReply {
    public TreeDump {
      events = List.copyOf(events);
    }
  }

  /** The rank's blocks cannot be dumped now. */
  record TreeDumpFailed(long lastId, String message) implements KvReply {}

  /** The requested start has not been reached yet. */
  record TooNew(long requestedStart, long requestedEnd, long newestId) implements KvReply {}

  /** The requested end lies before the start. */
  record InvalidRange(long startId, long endId) implements KvReply {}

  /** The query cannot be answered; on the wire it is {@code Error}. */
  record Refused(String message) implements KvReply {}
}
