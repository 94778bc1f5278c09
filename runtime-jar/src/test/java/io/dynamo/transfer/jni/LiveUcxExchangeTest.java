package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.event.Until;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TransferMetrics;
import io.dynamo.transfer.RegionExchangeContract;
import org.junit.jupiter.api.Test;

/** Writes by UCX itself, over TCP; left out without the environment of peers. */
class LiveUcxExchangeTest extends RegionExchangeContract {
  private final UcxLibrary library = LiveUcx.library();
  private final Metrics metrics = new Metrics();

  @Override
  protected NativeHostMemory newMemory() {
    return new NativeHostMemory();
  }

  @Override
  protected UcxExchange newExchange() {
    return UcxPath.exchange((NativeHostMemory) memory, loops, library, metrics);
  }

  @Test
  void theBytesTakeUcx() throws Exception {
    assertThat(library.probe()).contains("\"present\":true", "\"version\":\"1.");
    try (var export = owner.export(target, LEASE)) {
      write(SIZE, export.address());
      assertThat(bytes(target)).isEqualTo(data);
    }
    var counter = metrics.counter(TransferMetrics.WRITTEN_BYTES, new Label("path", "ucx"));
    Until.holds(() -> counter.value() == SIZE);
  }
}
