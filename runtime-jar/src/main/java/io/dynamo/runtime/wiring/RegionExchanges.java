package io.dynamo.runtime.wiring;

import io.dynamo.config.plane.TcpSettings;
import io.dynamo.config.plane.TransferSettings;
import io.dynamo.config.plane.UcxMode;
import io.dynamo.metrics.Metrics;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.RegionExchange;
import io.dynamo.transfer.jni.NativeHostMemory;
import io.dynamo.transfer.jni.SharedMemoryExchange;
import io.dynamo.transfer.jni.UcxExchange;
import io.dynamo.transfer.jni.UcxLibrary;
import io.dynamo.transfer.tcp.TcpRegionExchange;
import java.lang.System.Logger.Level;

/** Opens the exchange of regions that the settings ask for. */
final class RegionExchanges {
  private static final System.Logger LOG = System.getLogger(RegionExchanges.class.getName());

  private RegionExchanges() {}

  static RegionExchange open(
      TcpSettings tcp,
      TransferSettings settings,
      EventLoops loops,
      HostMemory memory,
      Metrics metrics) {
    var others =
        new SharedMemoryExchange(new TcpRegionExchange(tcp, settings, loops), memory, metrics);
    if (settings.ucx().mode() == UcxMode.OFF) {
      return others;
    }
    if (memory instanceof NativeHostMemory nativeMemory) {
      return new UcxExchange(others, nativeMemory, new UcxLibrary(settings.ucx()), metrics);
    }
    LOG.log(
        Level.WARNING,
        "KV blocks go to other workers without UCX, which dynamo.transfer.ucx.mode asks for: there"
            + " is no native library");
    return others;
  }
}
