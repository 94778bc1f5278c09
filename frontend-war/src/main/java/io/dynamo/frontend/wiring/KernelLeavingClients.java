package io.dynamo.frontend.wiring;

import io.dynamo.frontend.sse.LeavingClients;
import io.dynamo.natives.HangUps;
import java.time.Duration;
import java.util.List;
import java.util.function.LongConsumer;

/** Clients that leave, by the kernel's word on their sockets. */
final class KernelLeavingClients implements LeavingClients {
  private final HangUps kernel;

  KernelLeavingClients(HangUps kernel) {
    this.kernel = kernel;
  }

  /** One that this process does not know came through a proxy that tells of its own clients. */
  @Override
  public void watch(List<Arrival> arrived) {
    kernel.watch(
        arrived.stream()
            .map(
                one ->
                    new HangUps.Watched(
                        one.id(),
                        new HangUps.Connection(one.client().local(), one.client().remote())))
            .toList());
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
