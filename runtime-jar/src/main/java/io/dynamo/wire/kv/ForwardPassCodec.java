package io.dynamo.wire.kv;

import io.dynamo.kv.ForwardPass;
import io.dynamo.kv.WorkerRank;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.WireWriter;
import java.io.IOException;

/**
 * The payload of the topic {@code forward-pass-metrics}: Dynamo's {@code ForwardPassMetrics} map.
 * Stateless.
 */
public final class ForwardPassCodec {
  private static final int VERSION = 1;

  private record Report(WorkerRank rank, long counter, ForwardPass pass) {}

  private ForwardPassCodec() {}

  /**
   * @param counter number of the rank's report, from 1
   */
  public static byte[] encode(WorkerRank rank, long counter, ForwardPass pass) {
    return WireWriter.write(
        new Report(rank, counter, pass), PayloadFormat.MSGPACK, ForwardPassCodec::write);
  }

  private static void write(WireWriter out, Report report) throws IOException {
    out.beginMap(7);
    out.key("version");
    out.integer(VERSION);
    out.key("worker_id"); // a string here, and only here
    out.string(Long.toUnsignedString(report.rank.worker().value()));
    out.key("dp_rank");
    out.integer(report.rank.rank());
    out.key("counter_id");
    out.integer(report.counter);
    out.key("wall_time");
    out.float64(report.pass.seconds());
    out.key("scheduled_requests");
    work(out, report.pass.scheduled(), true);
    out.key("queued_requests");
    work(out, report.pass.queued(), false);
    out.endMap();
  }

  private static void work(WireWriter out, ForwardPass.Work work, boolean cached)
      throws IOException {
    out.beginMap(cached ? 7 : 6);
    out.key("num_prefill_requests");
    out.integer(work.prefills());
    out.key("sum_prefill_tokens");
    out.integer(work.prefillTokens());
    out.key("var_prefill_length");
    out.float64(work.promptVariance());
    if (cached) {
      out.key("sum_prefill_kv_tokens");
      out.integer(work.prefillKvTokens());
    }
    out.key("num_decode_requests");
    out.integer(work.decodes());
    out.key("sum_decode_kv_tokens");
    out.integer(work.decodeKvTokens());
    out.key("var_decode_kv_tokens");
    out.float64(work.decodeVariance());
    out.endMap();
  }
}
