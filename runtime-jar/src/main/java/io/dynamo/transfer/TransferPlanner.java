package io.dynamo.transfer;

import io.dynamo.transfer.BlockPlace.Storage;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Chooses the cheapest way between two places, of those that this host has: one lane before two,
 * shared memory before a network, one whose cards place the bytes before TCP. Stateless.
 */
public final class TransferPlanner {
  private TransferPlanner() {}

  /**
   * Plans a transfer whose bytes may stop in pinned memory.
   *
   * @param ready the lanes that this process, and the other one if there is one, have
   */
  public static TransferPlan plan(BlockPlace from, BlockPlace to, Set<TransferLane> ready) {
    return plan(from, to, ready, EnumSet.of(Storage.PINNED));
  }

  /**
   * Plans a transfer.
   *
   * @param ready the lanes that this process, and the other one if there is one, have
   * @param bounces the kinds of memory that bytes can stop in; pinned memory is preferred
   */
  public static TransferPlan plan(
      BlockPlace from, BlockPlace to, Set<TransferLane> ready, Set<Storage> bounces) {
    if (from.isRemote() && !from.isHostMemory()) {
      return new TransferPlan.Unsupported(
          "a %s of another process cannot be read; let that process write into a region that it is lent"
              .formatted(from.storage() == Storage.DISK ? "file" : "GPU"));
    }
    if (from.isRemote() && to.isRemote()) {
      return new TransferPlan.Unsupported(
          "bytes do not move between two other processes; let one of them write or read");
    }
    if (to.isRemote() && to.storage() == Storage.DISK) {
      return new TransferPlan.Unsupported(
          "a file of another process cannot be written; write into its memory");
    }
    var ways =
        from.isRemote() ? waysIn(to) : to.isRemote() ? waysOut(from, to) : waysWithin(from, to);
    for (var way : ways) {
      if (ready.containsAll(way)) {
        return way.size() == 1
            ? new TransferPlan.Direct(way.getFirst())
            : staged(way.getFirst(), way.getLast(), bounces);
      }
    }
    return new TransferPlan.Unsupported(
        ways.stream()
            .map(way -> missing(way, ready))
            .distinct()
            .collect(Collectors.joining(", or ", "from %s to %s needs ".formatted(from, to), "")));
  }

  private static TransferPlan staged(
      TransferLane first, TransferLane second, Set<Storage> bounces) {
    for (var bounce : List.of(Storage.PINNED, Storage.SYSTEM)) { // no copy of a driver's before
      if (bounces.contains(bounce)) {
        return new TransferPlan.Staged(first, second, bounce);
      }
    }
    return new TransferPlan.WithoutBounce(first, second);
  }

  private static String missing(List<TransferLane> way, Set<TransferLane> ready) {
    return way.stream()
        .filter(lane -> !ready.contains(lane))
        .map(TransferLane::label)
        .collect(Collectors.joining(" and "));
  }

  /** Returns the ways between places of this process, the cheapest first. */
  private static List<List<TransferLane>> waysWithin(BlockPlace from, BlockPlace to) {
    return switch (from.storage()) {
      case SYSTEM, PINNED -> List.of(List.of(laneBesideHost(to.storage())));
      case DEVICE ->
          to.storage() == Storage.DISK
              ? List.of(
                  List.of(TransferLane.DEVICE_DISK),
                  List.of(TransferLane.DEVICE_COPY, TransferLane.DISK))
              : List.of(List.of(TransferLane.DEVICE_COPY));
      case DISK ->
          switch (to.storage()) {
            case SYSTEM, PINNED -> List.of(List.of(TransferLane.DISK));
            case DEVICE ->
                List.of(
                    List.of(TransferLane.DEVICE_DISK),
                    List.of(TransferLane.DISK, TransferLane.DEVICE_COPY));
            case DISK -> List.of(List.of(TransferLane.DISK, TransferLane.DISK));
          };
    };
  }

  /** Returns the lane between memory of the host and another storage of this process. */
  private static TransferLane laneBesideHost(Storage other) {
    return switch (other) {
      case SYSTEM, PINNED -> TransferLane.COPY;
      case DEVICE -> TransferLane.DEVICE_COPY;
      case DISK -> TransferLane.DISK;
    };
  }

  /** Returns the ways from memory of another process, the cheapest first. */
  private static List<List<TransferLane>> waysIn(BlockPlace to) {
    var ways = new ArrayList<List<TransferLane>>();
    for (var first : List.of(TransferLane.SHARED_MEMORY, TransferLane.NETWORK)) {
      switch (to.storage()) {
        case SYSTEM, PINNED -> ways.add(List.of(first));
        case DEVICE -> ways.add(List.of(first, TransferLane.DEVICE_COPY));
        case DISK -> ways.add(List.of(first, TransferLane.DISK));
      }
    }
    return ways;
  }

  /** Returns the ways into memory of another process, the cheapest first. */
  private static List<List<TransferLane>> waysOut(BlockPlace from, BlockPlace to) {
    var sending =
        to.isHostMemory()
            ? List.of(TransferLane.SHARED_MEMORY, TransferLane.UCX, TransferLane.NETWORK)
            : List.of(TransferLane.DEVICE_NETWORK);
    var ways = new ArrayList<List<TransferLane>>();
    if (from.storage() == Storage.DEVICE) {
      ways.add(List.of(TransferLane.DEVICE_NETWORK));
    }
    for (var last : sending) {
      switch (from.storage()) {
        case SYSTEM, PINNED -> ways.add(List.of(last));
        case DEVICE -> ways.add(List.of(TransferLane.DEVICE_COPY, last));
        case DISK -> ways.add(List.of(TransferLane.DISK, last));
      }
    }
    return ways;
  }
}
