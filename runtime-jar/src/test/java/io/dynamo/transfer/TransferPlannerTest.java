package io.dynamo.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.transfer.BlockPlace.Storage;
import io.dynamo.transfer.TransferPlan.Direct;
import io.dynamo.transfer.TransferPlan.Staged;
import io.dynamo.transfer.TransferPlan.Unsupported;
import io.dynamo.transfer.TransferPlan.WithoutBounce;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TransferPlannerTest {
  /** The lanes of a host with a GPU, without direct ways between it and disks or networks. */
  private static final Set<TransferLane> PLAIN =
      Set.of(TransferLane.COPY, TransferLane.NETWORK, TransferLane.DISK, TransferLane.DEVICE_COPY);

  private static BlockPlace place(String text) {
    return text.startsWith("remote ")
        ? BlockPlace.remote(Storage.valueOf(text.substring(7)))
        : BlockPlace.local(Storage.valueOf(text));
  }

  private static String planned(
      String from, String to, Set<TransferLane> ready, Set<Storage> bounces) {
    return switch (TransferPlanner.plan(place(from), place(to), ready, bounces)) {
      case Direct(var lane) -> lane.label();
      case Staged(var first, var second, var bounce) ->
          "%s %s %s".formatted(first.label(), bounce, second.label());
      case WithoutBounce(var first, var second) ->
          "%s ? %s".formatted(first.label(), second.label());
      case Unsupported(var reason) -> reason;
    };
  }

  private static String planned(String from, String to, Set<TransferLane> ready) {
    return planned(from, to, ready, EnumSet.of(Storage.PINNED));
  }

  /**
   * The cells of the table, with every lane and with those of a host without a GPU's extras:
   * whether bytes stop, between which lanes and in which memory.
   */
  @ParameterizedTest
  @CsvSource({
    "SYSTEM, SYSTEM, mem, mem",
    "SYSTEM, PINNED, mem, mem",
    "SYSTEM, DEVICE, cuda, cuda",
    "SYSTEM, DISK, disk, disk",
    "PINNED, SYSTEM, mem, mem",
    "PINNED, PINNED, mem, mem",
    "PINNED, DEVICE, cuda, cuda",
    "PINNED, DISK, disk, disk",
    "DEVICE, SYSTEM, cuda, cuda",
    "DEVICE, PINNED, cuda, cuda",
    "DEVICE, DEVICE, cuda, cuda",
    "DEVICE, DISK, gds, cuda PINNED disk",
    "DISK, SYSTEM, disk, disk",
    "DISK, PINNED, disk, disk",
    "DISK, DEVICE, gds, disk PINNED cuda",
    "DISK, DISK, disk PINNED disk, disk PINNED disk",
    "SYSTEM, remote SYSTEM, shm, tcp",
    "SYSTEM, remote PINNED, shm, tcp",
    "SYSTEM, remote DEVICE, gpu-rdma, from system to remote device needs gpu-rdma",
    "PINNED, remote SYSTEM, shm, tcp",
    "PINNED, remote PINNED, shm, tcp",
    "PINNED, remote DEVICE, gpu-rdma, from pinned to remote device needs gpu-rdma",
    "DEVICE, remote SYSTEM, gpu-rdma, cuda PINNED tcp",
    "DEVICE, remote PINNED, gpu-rdma, cuda PINNED tcp",
    "DEVICE, remote DEVICE, gpu-rdma, from device to remote device needs gpu-rdma",
    "DISK, remote SYSTEM, disk PINNED shm, disk PINNED tcp",
    "DISK, remote PINNED, disk PINNED shm, disk PINNED tcp",
    "DISK, remote DEVICE, disk PINNED gpu-rdma, from disk to remote device needs gpu-rdma",
    "remote SYSTEM, SYSTEM, shm, tcp",
    "remote SYSTEM, PINNED, shm, tcp",
    "remote SYSTEM, DEVICE, shm PINNED cuda, tcp PINNED cuda",
    "remote SYSTEM, DISK, shm PINNED disk, tcp PINNED disk",
    "remote PINNED, SYSTEM, shm, tcp",
    "remote PINNED, PINNED, shm, tcp",
    "remote PINNED, DEVICE, shm PINNED cuda, tcp PINNED cuda",
    "remote PINNED, DISK, shm PINNED disk, tcp PINNED disk",
  })
  void theTableHolds(String from, String to, String rich, String poor) {
    assertThat(planned(from, to, EnumSet.allOf(TransferLane.class))).isEqualTo(rich);
    assertThat(planned(from, to, PLAIN)).isEqualTo(poor);
    var both = EnumSet.of(Storage.SYSTEM, Storage.PINNED);
    assertThat(planned(from, to, PLAIN, both)).isEqualTo(poor);
    assertThat(planned(from, to, PLAIN, EnumSet.of(Storage.SYSTEM)))
        .isEqualTo(poor.replace("PINNED", "SYSTEM"));
    assertThat(planned(from, to, PLAIN, EnumSet.noneOf(Storage.class)))
        .isEqualTo(poor.replace("PINNED", "?"));
  }

  @Test
  void filesAndGpusOfOtherProcessesAreNotRead() {
    var all = EnumSet.allOf(TransferLane.class);
    for (var storage : Storage.values()) {
      assertThat(planned("remote DISK", storage.name(), all)).contains("file", "cannot be read");
      assertThat(planned("remote DEVICE", storage.name(), all)).contains("GPU", "cannot be read");
      assertThat(planned("remote SYSTEM", "remote " + storage, all))
          .contains("between two other processes");
      assertThat(planned(storage.name(), "remote DISK", all)).contains("cannot be written");
    }
  }

  @Test
  void ucxComesAfterSharedMemoryAndBeforeTheNetwork() {
    var ready = EnumSet.of(TransferLane.UCX, TransferLane.NETWORK, TransferLane.DISK);
    assertThat(planned("SYSTEM", "remote SYSTEM", ready)).isEqualTo("ucx");
    assertThat(planned("DISK", "remote SYSTEM", ready)).isEqualTo("disk PINNED ucx");
    ready.add(TransferLane.SHARED_MEMORY);
    assertThat(planned("SYSTEM", "remote SYSTEM", ready)).isEqualTo("shm");
    assertThat(planned("SYSTEM", "remote SYSTEM", EnumSet.noneOf(TransferLane.class)))
        .endsWith("needs shm, or ucx, or tcp");
  }

  /** A pair that has UCX reads by the other lanes. */
  @Test
  void readsDoNotTakeUcx() {
    var ready = EnumSet.of(TransferLane.UCX, TransferLane.NETWORK);
    assertThat(planned("remote SYSTEM", "SYSTEM", ready)).isEqualTo("tcp");
    assertThat(planned("remote SYSTEM", "SYSTEM", EnumSet.of(TransferLane.UCX)))
        .isEqualTo("from remote system to system needs shm, or tcp");
  }

  @Test
  void allMissingLanesAreNamed() {
    assertThat(planned("DEVICE", "DISK", EnumSet.noneOf(TransferLane.class)))
        .isEqualTo("from device to disk needs gds, or cuda and disk");
    assertThat(planned("DEVICE", "DISK", EnumSet.of(TransferLane.DISK)))
        .isEqualTo("from device to disk needs gds, or cuda");
  }

  /** Every cell with every set of lanes. */
  @Test
  void aPlanUsesLanesThatAreReadyAndFurtherLanesNeverTakeItAway() {
    var lanes = TransferLane.values();
    var places =
        Stream.of(Storage.values())
            .flatMap(one -> Stream.of(BlockPlace.local(one), BlockPlace.remote(one)))
            .toList();
    for (int bits = 0; bits < (1 << lanes.length); bits++) {
      var ready = EnumSet.noneOf(TransferLane.class);
      for (int i = 0; i < lanes.length; i++) {
        if ((bits & (1 << i)) != 0) {
          ready.add(lanes[i]);
        }
      }
      for (var from : places) {
        for (var to : places) {
          var plan = TransferPlanner.plan(from, to, ready);
          assertThat(ready).containsAll(lanesOf(plan));
          for (var further : lanes) {
            var more = EnumSet.copyOf(ready);
            more.add(further);
            var richer = lanesOf(TransferPlanner.plan(from, to, more)).size();
            int size = lanesOf(plan).size();
            assertThat(size == 0 || (richer > 0 && richer <= size))
                .as("%s to %s with %s and %s", from, to, ready, further)
                .isTrue();
          }
        }
      }
    }
  }

  private static List<TransferLane> lanesOf(TransferPlan plan) {
    return switch (plan) {
      case Direct(var lane) -> List.of(lane);
      case Staged(var first, var second, var _) -> List.of(first, second);
      case WithoutBounce(var first, var second) -> List.of(first, second);
      case Unsupported _ -> List.of();
    };
  }
}
