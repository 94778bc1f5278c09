package io.dynamo.frontend.wiring;

import io.dynamo.frontend.sse.LeavingClients;
import io.dynamo.natives.HangUps;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.function.LongConsumer;

/** Clients that leave, by the kernel's word on their sockets. */
final class KernelLeavingClients implements LeavingClients {
  private static final System.Logger LOG = System.getLogger(KernelLeavingClients.class.getName());

  private final HangUps kernel;
  private boolean told; // of clients that are not found; the watching thread's

  KernelLeavingClients(HangUps kernel) {
    this.kernel = kernel;
  }

  /** One that this process does not know came through a proxy that tells of its own clients. */
  @Override
  public void watch(List<Arrival> arrived) {
    int found =
        kernel.watch(
            arrived.stream()
                .map(
                    one ->
                        new HangUps.Watched(
                            one.id(),
                            new HangUps.Connection(one.client().local(), one.client().remote())))
                .toList());
    if (found < arrived.size() && !told) {
      told = true;
      LOG.log(
          Level.INFO,
          "a client's addresses are those of no socket of ours: it has gone already, or a proxy"
              + " tells of its clients; such clients are found to hang up by heartbeats");
    }
  }

  @Override
  public void await(Duration atMost, LongConsumer left) {
    kernel.await(atMost, left);
  }

  @Override
  public void wake() {
    kernel.wake();
  }

  @Override
  public void close() {
    kernel.close();
  }
}
