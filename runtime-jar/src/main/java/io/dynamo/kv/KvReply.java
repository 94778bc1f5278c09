package io.dynamo.kv;

import java.util.List;

/** The answer of a rank's publisher to a {@link KvQuery}. Ids are unsigned. */
public sealed interface KvReply {
  /**
   * The events from the start asked for, under their own ids, to the last one there is.
   *
   * @param lastId of the last event published or about to be
   */
  record Events(List<RankEvent> events, long lastId) implements KvReply {
    public Events {
      events = List.copyOf(events);
    }
  }

  /**
   * All blocks that the rank holds, as events for an index that holds nothing of it.
   *
   * @param events their ids mean nothing
   * @param lastId the last event that the dump contains
   */
  record TreeDump(List<RankEvent> events, long lastId) implements KvReply {
    public TreeDump {
      events = List.copyOf(events);
    }
  }

  /** The rank cannot be dumped now. */
  record TreeDumpFailed(long lastId, String message) implements KvReply {}

  /** The start asked for is yet to come. */
  record TooNew(long requestedStart, long requestedEnd, long newestId) implements KvReply {}

  /** The end asked for lies before the start. */
  record InvalidRange(long startId, long endId) implements KvReply {}

  /** The question cannot be answered; on the wire it is {@code Error}. */
  record Refused(String message) implements KvReply {}
}
