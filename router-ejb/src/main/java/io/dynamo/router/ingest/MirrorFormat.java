package io.dynamo.router.ingest;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.WorkerRank;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The bytes of a snapshot, big-endian: a mark, the number of ranks, then for each rank its
 * publisher, worker, number, last event id, and its blocks as the payload of a message of KV events
 * with its length before it. The mark says version 2 where a rank has blocks below the device:
 * routers that read version 1 alone would take them for blocks of the device. Stateless.
 */
record MirrorFormat(
    Function<List<RankEvent>, byte[]> encoder, Function<byte[], List<RankEvent>> decoder) {
  private static final int DEVICE_ALONE = 0x444B5601; // DKV, version 1
  private static final int ALL_TIERS = 0x444B5602; // DKV, version 2

  byte[] write(List<RankMirrors.State> states) {
    var bytes = new ByteArrayOutputStream();
    try (var out = new DataOutputStream(bytes)) {
      out.writeInt(states.stream().allMatch(MirrorFormat::isOnDevice) ? DEVICE_ALONE : ALL_TIERS);
      out.writeInt(states.size());
      for (var state : states) {
        out.writeLong(state.publisherId());
        out.writeLong(state.rank().worker().value());
        out.writeInt(state.rank().rank());
        out.writeLong(state.lastId());
        var blocks = encoder.apply(state.blocks());
        out.writeInt(blocks.length);
        out.write(blocks);
      }
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return bytes.toByteArray();
  }

  private static boolean isOnDevice(RankMirrors.State state) {
    return state.blocks().stream().allMatch(event -> event.tier() == StorageTier.DEVICE);
  }

  /**
   * Reads a snapshot.
   *
   * @throws IOException when the bytes are no snapshot of a known version
   */
  List<RankMirrors.State> read(byte[] content) throws IOException {
    try (var in = new DataInputStream(new ByteArrayInputStream(content))) {
      int mark = in.readInt();
      if (mark != DEVICE_ALONE && mark != ALL_TIERS) {
        throw new IOException("the snapshot is of another program or version");
      }
      int count = in.readInt();
      if (count < 0 || count > RankMirrors.MAX_PUBLISHERS) {
        throw new IOException("the snapshot claims %d ranks".formatted(count));
      }
      var states = new ArrayList<RankMirrors.State>();
      for (int i = 0; i < count; i++) {
        long publisher = in.readLong();
        var rank = new WorkerRank(new InstanceId(in.readLong()), in.readInt());
        long lastId = in.readLong();
        int length = in.readInt();
        if (length < 0 || length > in.available()) {
          throw new IOException("the snapshot ends within rank %s".formatted(rank));
        }
        states.add(
            new RankMirrors.State(publisher, rank, lastId, blocks(rank, in.readNBytes(length))));
      }
      return states;
    } catch (IllegalArgumentException e) {
      throw new IOException("the snapshot has something that is no block", e);
    }
  }

  private List<RankEvent> blocks(WorkerRank rank, byte[] payload) throws IOException {
    var events = decoder.apply(payload);
    for (var event : events) {
      if (!event.rank().equals(rank)) {
        throw new IOException(
            "the snapshot has blocks of %s for rank %s".formatted(event.rank(), rank));
      }
    }
    return events;
  }
}
