package io.dynamo.config;

import io.dynamo.config.key.Lookup;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds variables of Dynamo and of its dependencies that stand for no setting of this server. Those
 * that would send data elsewhere are refused, the others are listed in the log.
 */
public final class UnsupportedVariables {
  private static final Pattern FOREIGN =
      Pattern.compile("(DYN|ETCD|NATS|HF|OTEL|KVBM|NIXL|MODEL_EXPRESS)_[A-Z0-9_]*");

  /** The sentence for variables that no prefix matches. */
  static final String UNKNOWN = "not a variable that this version knows; check its spelling";

  private static final String NO_FETCHING =
      "models are folders of this machine, and nothing is fetched";
  private static final String TRANSPORT = "this server has no such bound or buffer to set";
  private static final String OTHER_API = "that API is not served";
  private static final String PARSERS =
      "tool calls and thoughts are always taken out of the stream, by this server's own parsers";
  private static final String PREPROCESSING =
      "templates and tokenizers are read by this server alone";
  private static final String NO_PREFILL =
      "this server's workers do no prefill for others; the frontend finds prefill workers by their"
          + " cards";
  private static final String NATS_TIMEOUTS = "the time limits of NATS are fixed";
  private static final String NO_TIERS = "there are no KV tiers below the device";
  private static final String SECOND_PUBLISHER =
      "dynamo.worker.remote.second-kv-events names the publisher whose KV events are merged with the"
          + " engine's own";
  private static final String HTTP2 =
      "only the names of the HTTP/2 request plane in docs/configuration.md are read";
  private static final String KUBERNETES =
      "only the names of Kubernetes in docs/configuration.md are read";
  private static final String NO_CARD_FIELD = "model cards are published without that field";
  private static final String JVM = "threads and memory are the JVM's, which jvm.options sets";
  private static final String LOGGING = "the container logs; its configuration sets level and form";
  private static final String WORKERS_MEDIA =
      "dynamo.frontend.media.* in docs/configuration.md sets what the frontend does with media";
  private static final String REINFORCEMENT = "there are no routes for reinforcement learning";

  /**
   * The reasons why variables have no effect, by the variables' prefixes; the longest matching
   * prefix counts.
   */
  private static final Map<String, String> REASONS =
      Map.ofEntries(
          Map.entry("DYN_AIC_", "there is no model of an engine's durations"),
          Map.entry("DYN_AUDIT_", "set DYN_REQUEST_TRACE_RECORDS=request_payload instead"),
          Map.entry("DYN_CHAT_PROCESSOR", PREPROCESSING),
          Map.entry("DYN_COMPUTE_", JVM),
          Map.entry("DYN_CUSTOM_JINJA_TEMPLATE", "the template is that of the model's folder"),
          Map.entry("DYN_DEBUG_PERF", PREPROCESSING),
          Map.entry("DYN_DISAGGREGATION_", NO_PREFILL),
          Map.entry("DYN_ENABLE_ANTHROPIC_API", "Anthropic's Messages are always served"),
          Map.entry("DYN_ENABLE_EXPERIMENTAL_PARSERS_V2", PARSERS),
          Map.entry("DYN_ENABLE_GUIDED_TOOL_STREAMING", PARSERS),
          Map.entry("DYN_ENABLE_RL", REINFORCEMENT),
          Map.entry("DYN_ENFORCE_DISAGG", "Dynamo ignores it, too"),
          Map.entry(
              "DYN_ENGINE_HEALTH_", "engines are watched by dynamo.worker.stall-timeout alone"),
          Map.entry("DYN_EVENT_PLANE_CODEC", "events are MessagePack, in Dynamo too"),
          Map.entry("DYN_FORWARDPASS_METRIC_PORT", "these figures travel on the event plane"),
          Map.entry("DYN_FRONTEND_FD_LIMIT_TARGET", TRANSPORT),
          Map.entry("DYN_FRONTEND_ROUTE_EXTENSIONS", "routes cannot be added"),
          Map.entry("DYN_GLOBAL_ROUTER_", "there is no router above routers"),
          Map.entry(
              "DYN_GRPC_INITIAL_CONNECTION_WINDOW_SIZE",
              "a connection has the window of its calls, dynamo.grpc.window"),
          Map.entry(
              "DYN_GRPC_METRICS_PORT", "the HTTP port stays open beside gRPC and has the metrics"),
          Map.entry("DYN_HTTP2_", HTTP2),
          Map.entry("DYN_HTTP_LISTEN_BACKLOG", TRANSPORT),
          Map.entry("DYN_HTTP_REQUEST_TIMEOUT", "dynamo.request.tcp.request-timeout sets it"),
          Map.entry("DYN_HTTP_RPC_", HTTP2),
          Map.entry("DYN_HTTP_SVC_", OTHER_API),
          Map.entry("DYN_INTERACTIVE", "the command dynamo chat talks with a model in a terminal"),
          Map.entry("DYN_KUBE_", KUBERNETES),
          Map.entry("DYN_KVBM_", NO_TIERS),
          Map.entry("DYN_KVBM_KV_EVENTS_", SECOND_PUBLISHER),
          Map.entry(
              "DYN_KVBM_NIXL_BACKEND_",
              "only UCX, LIBFABRIC and MOONCAKE move memory between processes; their parameters are"
                  + " in dynamo.transfer.nixl.parameters"),
          Map.entry("DYN_KVBM_TRTLLM_ZMQ_PORT", SECOND_PUBLISHER),
          Map.entry("DYN_KV_CACHE_BLOCK_SIZE", "the block size is that of the model's card"),
          Map.entry("DYN_KV_INDEXER_", "the index is not a server of its own"),
          Map.entry("DYN_KV_STATE_ENDPOINT", NO_CARD_FIELD),
          Map.entry("DYN_KV_STORE", "DYN_DISCOVERY_BACKEND has taken its place"),
          Map.entry("DYN_KV_TRANSFER_", NO_CARD_FIELD),
          Map.entry("DYN_LOG", LOGGING),
          Map.entry("DYN_LORA_", "adapters come and go by the worker's routes alone"),
          Map.entry("DYN_MEMORY_", JVM),
          Map.entry("DYN_MM_", WORKERS_MEDIA),
          Map.entry("DYN_MULTIMODAL_", WORKERS_MEDIA),
          Map.entry("DYN_NATS_", NATS_TIMEOUTS),
          Map.entry("DYN_PARENT_DGD_", KUBERNETES),
          Map.entry("DYN_PREFILL_", NO_PREFILL),
          Map.entry("DYN_PREPROCESS_WORKERS", PREPROCESSING),
          Map.entry("DYN_QUIC_", "answers travel over TCP"),
          Map.entry("DYN_REQUEST_TRACE_FILE_BUFFER_BYTES", JVM),
          Map.entry("DYN_RESPONSE_PLANE", "answers travel over TCP"),
          Map.entry("DYN_RL_", REINFORCEMENT),
          Map.entry("DYN_ROUTER_DECODE_POLICY", NO_PREFILL),
          Map.entry("DYN_ROUTER_ENDPOINT", "the router is part of the frontend"),
          Map.entry("DYN_ROUTER_MODEL_CARD_WAIT_SECS", "the router is part of the frontend"),
          Map.entry("DYN_ROUTER_POSITIONAL_SEARCH_MODE", "the index has one way to search"),
          Map.entry("DYN_ROUTER_PREFILL_POLICY", NO_PREFILL),
          Map.entry("DYN_ROUTE_TO_ENCODER", "there are no workers that only encode"),
          Map.entry(
              "DYN_RUNTIME_GRACEFUL_SHUTDOWN_TIMEOUT_SECS", "dynamo.runtime.drain-timeout sets it"),
          Map.entry("DYN_RUNTIME_", JVM),
          Map.entry("DYN_SDK_DISABLE_ANSI_LOGGING", LOGGING),
          Map.entry("DYN_SGLANG_", OTHER_API),
          Map.entry("DYN_SGLANG_ENABLE_GENERATE", "SGLang's /generate is always served"),
          Map.entry("DYN_SIDECAR_GRPC_", OTHER_API),
          Map.entry("DYN_STABLE_ROUTING_ID", NO_CARD_FIELD),
          Map.entry("DYN_STRIP_ANTHROPIC_PREAMBLE", "that line is always dropped"),
          Map.entry("DYN_SYSTEM_ENABLED", "DYN_SYSTEM_PORT decides, in Dynamo too"),
          Map.entry("DYN_TCP_", TRANSPORT),
          Map.entry("DYN_TOKENIZER", PREPROCESSING),
          Map.entry(
              "DYN_TOKENIZER_CACHE", "dynamo.frontend.prefix-cache-bytes sets it, 0 for none"),
          Map.entry("DYN_TOKEN_ECHO_DELAY_MS", "dynamo.worker.token-interval sets it"),
          Map.entry("DYN_TOPOLOGY_", NO_CARD_FIELD),
          Map.entry("DYN_TRUST_REMOTE_CODE", "no code of a model is run"),
          Map.entry("DYN_VLLM_", OTHER_API),
          Map.entry(
              "DYN_VLLM_ENABLE_INFERENCE_V1_GENERATE",
              "vLLM's /inference/v1/generate is always served"),
          Map.entry("DYN_ZMQ_BROKER_ENABLED", "brokers are named in DYN_ZMQ_BROKER_URL"),
          Map.entry("DYN_ZMQ_IO_THREADS", JVM),
          Map.entry("ETCD_", "only the names of etcd in docs/configuration.md are read"),
          Map.entry("HF_", NO_FETCHING),
          Map.entry("KVBM_", NO_TIERS),
          Map.entry("MODEL_EXPRESS_", NO_FETCHING),
          Map.entry("NIXL_", "NIXL itself reads them, in processes that open it"),
          Map.entry("OTEL_", "only the names of OTLP over HTTP in docs/configuration.md are read"));

  /**
   * A variable that decides where data is sent.
   *
   * @param harmless values that describe what happens here anyway
   * @param unless a setting that decides instead when it is set; empty for none
   */
  private record Refusal(String variable, Set<String> harmless, String unless, String advice) {
    boolean isHarmless(String value) {
      return value.isBlank() || harmless.contains(value.strip().toLowerCase(Locale.ROOT));
    }
  }

  private static final List<Refusal> REFUSALS =
      List.of(
          new Refusal(
              "DYN_RESPONSE_PLANE",
              Set.of("tcp"),
              "",
              "answers travel over TCP here; set tcp, or leave it out"),
          new Refusal(
              "DYN_KV_STORE",
              Set.of(),
              "dynamo.discovery.backend",
              "records are kept where DYN_DISCOVERY_BACKEND says; set that to mem, file or etcd"),
          new Refusal(
              "ETCD_ENDPOINTS",
              Set.of(),
              "dynamo.discovery.backend",
              "records are kept in memory where no backend is named; set DYN_DISCOVERY_BACKEND to"
                  + " etcd, or to mem or file"),
          new Refusal(
              "DYN_ZMQ_BROKER_ENABLED",
              Set.of("0", "false", "off", "no"),
              "dynamo.event.zmq.broker",
              "brokers are not found through discovery here; name them in DYN_ZMQ_BROKER_URL"),
          new Refusal(
              "DYN_NAMESPACE_WORKER_SUFFIX",
              Set.of(),
              "",
              "namespaces have no suffix here; set DYN_NAMESPACE to the whole name"),
          new Refusal(
              "DYN_ENDPOINT",
              Set.of(),
              "",
              "the parts of an endpoint's name are settings of their own here; set"
                  + " dynamo.namespace, dynamo.worker.component and dynamo.worker.endpoint"),
          new Refusal(
              "DYN_DISAGGREGATION_MODE",
              Set.of("agg"),
              "",
              "workers both prefill and decode here; set agg, or leave it out"));

  private UnsupportedVariables() {}

  /**
   * Returns for each variable that would send data elsewhere why the server refuses to start with
   * it.
   *
   * @param environment of the process
   * @param settings looks up the settings that may decide instead of a variable
   */
  static List<String> refusals(Map<String, String> environment, Lookup settings) {
    var refusals = new ArrayList<String>();
    for (var refusal : REFUSALS) {
      var value = environment.getOrDefault(refusal.variable, "");
      if (!refusal.isHarmless(value)
          && (refusal.unless.isEmpty() || !isSet(refusal.unless, settings))) {
        refusals.add(
            "the variable %s = \"%s\" is not supported: %s"
                .formatted(refusal.variable, value, refusal.advice));
      }
    }
    return refusals;
  }

  private static boolean isSet(String key, Lookup settings) {
    try {
      var found = settings.find(key);
      return found != null && !found.text().isBlank();
    } catch (IllegalArgumentException _) {
      return true; // reading that setting reports it
    }
  }

  /**
   * Returns the variables that have no effect, each group with the reason in parentheses; null when
   * there are none.
   *
   * @param environment of the process
   */
  public static @Nullable String report(Map<String, String> environment) {
    var names = new TreeSet<String>();
    environment.keySet().stream()
        .filter(name -> FOREIGN.matcher(name).matches())
        .forEach(names::add);
    names.removeAll(SettingKeys.variables());
    for (var refusal : REFUSALS) {
      if (refusal.isHarmless(environment.getOrDefault(refusal.variable, ""))) {
        names.remove(refusal.variable);
      }
    }
    var byReason = new TreeMap<String, List<String>>();
    for (var name : names) {
      byReason.computeIfAbsent(reason(name), _ -> new ArrayList<>()).add(name);
    }
    var groups = new ArrayList<String>();
    byReason.forEach((why, its) -> groups.add(String.join(", ", its) + " (" + why + ")"));
    return groups.isEmpty() ? null : String.join("; ", groups);
  }

  /** Returns why a variable has no effect, by the longest known prefix of its name. */
  static String reason(String name) {
    for (int end = name.length(); end > 0; end--) {
      var reason = REASONS.get(name.substring(0, end));
      if (reason != null) {
        return reason;
      }
    }
    return UNKNOWN;
  }
}
