package io.dynamo.frontend;

import io.dynamo.json.Json;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.RouteExplanation;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A decision of the router as JSON. Worker ids are hexadecimal, as in logs, and unsigned numbers,
 * as on the wire.
 */
public final class ExplanationJson {
  private ExplanationJson() {}

  /** Returns a decision with all its candidates. */
  public static Map<String, Object> of(RouteExplanation decision) {
    var json = withoutCandidates(decision);
    json.put("candidates", decision.candidates().stream().map(ExplanationJson::of).toList());
    return json;
  }

  /** Returns a decision without its candidates, of which there may be many. */
  public static Map<String, Object> withoutCandidates(RouteExplanation decision) {
    var json = new LinkedHashMap<String, Object>();
    json.put("request_id", decision.requestId());
    json.put("endpoint", decision.endpoint().toString());
    json.put("model", decision.model());
    json.put("at", decision.at().toString());
    json.put("mode", decision.mode());
    json.put("waited_ms", decision.waitedNanos() / 1e6);
    json.put("queued_ms", decision.queuedNanos() / 1e6);
    json.put("prompt_tokens", decision.promptTokens());
    json.put("block_tokens", decision.blockTokens());
    json.put("chosen", rank(decision.chosen()));
    json.put("reason", decision.reason());
    json.put("narrowed_by", decision.narrowedBy());
    json.put("total_candidates", decision.totalCandidates());
    return json;
  }

  /** Returns one candidate: its cached blocks, load and cost. */
  public static Map<String, @Nullable Object> of(RouteExplanation.Candidate candidate) {
    Map<String, @Nullable Object> json = rank(candidate.rank());
    var overlap = new LinkedHashMap<String, Object>();
    overlap.put("device", candidate.deviceOverlap());
    overlap.put("host", candidate.hostOverlap());
    overlap.put("disk", candidate.diskOverlap());
    overlap.put("shared", candidate.sharedOverlap());
    json.put("overlap_blocks", overlap);
    var load = new LinkedHashMap<String, Object>();
    load.put("prefill_tokens", candidate.prefillTokens());
    load.put("active_blocks", candidate.activeBlocks());
    load.put("added_blocks", candidate.addedBlocks());
    load.put("requests", candidate.requests());
    json.put("load", load);
    json.put("reported_load", report(candidate.reported()));
    var terms = new LinkedHashMap<String, Object>();
    terms.put("prefill", candidate.prefillTerm());
    terms.put("credit", candidate.creditTerm());
    terms.put("shared", candidate.sharedTerm());
    terms.put("decode", candidate.decodeTerm());
    json.put("terms", terms);
    json.put("cost", candidate.cost());
    return json;
  }

  private static @Nullable Map<String, @Nullable Object> report(
      RouteExplanation.@Nullable Report report) {
    if (report == null) {
      return null;
    }
    var json = new LinkedHashMap<String, @Nullable Object>();
    json.put("used_blocks", report.usedBlocks());
    json.put("active_blocks", report.activeBlocks());
    json.put("prefill_tokens", report.prefillTokens());
    json.put("age_ms", report.ageNanos() / 1e6);
    json.put("used", report.used());
    return json;
  }

  private static Map<String, @Nullable Object> rank(WorkerRank rank) {
    var json = new LinkedHashMap<String, @Nullable Object>();
    json.put("worker", rank.worker().hex());
    json.put("worker_id", Json.unsigned(rank.worker().value()));
    json.put("dp_rank", rank.rank());
    return json;
  }
}
