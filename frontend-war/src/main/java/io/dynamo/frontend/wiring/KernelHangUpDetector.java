package io.dynamo.frontend.wiring;

import io.dynamo.frontend.sse.HangUpDetector;
import io.dynamo.natives.HangUps;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.function.LongConsumer;

/** Detects clients that hang up by the kernel's events for their sockets. */
final class KernelHangUpDetector implements HangUpDetector {
  private static final System.Logger LOG = System.getLogger(KernelHangUpDetector.class.getName());

  private final HangUps kernel;
  private boolean logged; // clients without a socket here; used by the watching thread

  KernelHangUpDetector(HangUps kernel) {
    this.kernel = kernel;
  }

  /** A client without a socket in this process came through a proxy that forwards addresses. */
  @Override
  public void watch(List<WatchedClient> arrived) {
    int found =
        kernel.watch(
            arrived.stream()
                .map(
                    one ->
                        new HangUps.WatchedConnection(
                            one.id(),
                            new HangUps.Connection(one.client().local(), one.client().remote())))
                .toList());
    if (found < arrived.size() && !logged) {
      logged = true;
      LOG.log(
          Level.INFO,
          "a client's addresses match no socket of this server: it has left already, or a proxy"
              + " forwards client addresses; such clients are detected by heartbeats only");
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
