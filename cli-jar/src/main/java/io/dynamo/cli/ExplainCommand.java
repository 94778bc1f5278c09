package io.dynamo.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows how a request found its worker: all candidates with overlap, load and cost. */
@Command(name = "explain", description = "Shows why a request went where it went.")
final class ExplainCommand extends Subcommand {
  @Mixin private ServerOptions server;

  @Option(names = "--json", description = "Prints the server's answer.")
  private boolean json;

  @Parameters(
      paramLabel = "ID",
      description = "The id in the answer that the client got, chatcmpl-… for example.")
  private String id;

  @SuppressWarnings("NullAway.Init")
  ExplainCommand() {}

  @Override
  public Integer call() {
    if (!id.matches("[A-Za-z0-9._:-]+")) {
      throw new RefusedException("\"" + id + "\" is no id of a request");
    }
    var decision = server.client().object("/router/explain/" + id).members();
    var out = out();
    if (json) {
      Output.json(out, decision);
      return ExitCode.DONE;
    }
    out.println(
        "%s: model %s, %s tokens of prompt, mode %s"
            .formatted(
                decision.get("request_id"),
                decision.get("model"),
                decision.get("prompt_tokens"),
                decision.get("mode")));
    out.println(
        "chosen: %s, because of %s%s; waited %s ms"
            .formatted(
                rank(decision.get("chosen")),
                decision.get("reason"),
                "none".equals(decision.get("narrowed_by"))
                    ? ""
                    : " among those left by " + decision.get("narrowed_by"),
                decimal(decision.get("waited_ms"))));
    var rows = new ArrayList<List<String>>();
    rows.add(List.of("CANDIDATE", "CACHED BLOCKS", "PREFILL TOKENS", "ACTIVE BLOCKS", "COST"));
    if (decision.get("candidates") instanceof List<?> candidates) {
      for (var candidate : candidates) {
        if (candidate instanceof Map<?, ?> it) {
          rows.add(
              List.of(
                  rank(it),
                  member(it.get("overlap_blocks"), "device"),
                  member(it.get("load"), "prefill_tokens"),
                  member(it.get("load"), "active_blocks"),
                  decimal(it.get("cost"))));
        }
      }
    }
    Output.table(out, rows);
    return ExitCode.DONE;
  }

  private static String rank(@Nullable Object rank) {
    return member(rank, "worker_id") + "/" + member(rank, "dp_rank");
  }

  private static String member(@Nullable Object object, String name) {
    return object instanceof Map<?, ?> map ? String.valueOf(map.get(name)) : "-";
  }

  private static String decimal(@Nullable Object number) {
    return number instanceof Number value
        ? String.format(Locale.ROOT, "%.3f", value.doubleValue())
        : "-";
  }
}
