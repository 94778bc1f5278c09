package io.dynamo.config.router;

import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.config.key.Lookup;
import io.dynamo.config.key.SettingType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the routing that a worker asks for in its model card ({@code router_config}): it overrides
 * the frontend's, as in Dynamo. Settings that only this router has stay as in the frontend; so does
 * the queue's threshold if the card names none.
 */
public final class RouterCard {
  private static final String PREFIX = "dynamo.router.";

  /** The names in cards that differ from the setting's name with underscores. */
  private static final Map<String, String> RENAMED =
      Map.of("conditional_disagg_enabled", "conditional-disagg");

  /** The names that have no meaning any more, in Dynamo or here. */
  private static final Set<String> PASSED_OVER = Set.of("enforce_disagg");

  /** The prefix of settings that are useful only together. */
  private static final String TOGETHER = "tracking-";

  /** The prefixes of settings that can be combined with certain others only. */
  private static final List<String> CHOOSY =
      List.of(TOGETHER, "serve-indexer", "use-remote-indexer", "conditional-disagg");

  /**
   * The result of reading a card.
   *
   * @param ignored the entries that have no effect, with the reasons
   */
  public record Reading(RouterSettings settings, List<String> ignored) {
    public Reading {
      ignored = List.copyOf(ignored);
    }
  }

  private final Map<String, String> texts = new HashMap<>(); // by setting
  private final List<String> ignored = new ArrayList<>();

  private RouterCard() {}

  /**
   * Reads {@code card}.
   *
   * @param own the settings that hold without a card
   */
  public static Reading read(Map<String, ? extends @Nullable Object> card, RouterSettings own) {
    var reader = new RouterCard();
    reader.takeAll(card, own);
    RouterSettings asked;
    try {
      asked = RouterReader.read(reader::find);
    } catch (InvalidSettingsException e) { // each is valid by itself, but they exclude each other
      reader
          .texts
          .keySet()
          .removeIf(key -> CHOOSY.stream().anyMatch(it -> key.startsWith(PREFIX + it)));
      reader.ignored.add(e.getMessage());
      asked = RouterReader.read(reader::find);
    }
    return new Reading(merged(asked, own, reader.texts), reader.ignored);
  }

  private Lookup.@Nullable SettingText find(String name) {
    var text = texts.get(name);
    return text == null ? null : new Lookup.SettingText(text, "a model card");
  }

  private void takeAll(Map<String, ? extends @Nullable Object> card, RouterSettings own) {
    texts.put(RouterKeys.MODE.name(), SettingType.choice(own.mode()));
    for (var member : card.entrySet()) {
      switch (member.getKey()) {
        case "router_mode" ->
            take(
                "mode",
                member.getKey(),
                "k_v".equals(member.getValue()) ? "kv" : member.getValue());
        case "kv_router_config", "load_threshold_config" -> {
          if (member.getValue() instanceof Map<?, ?> fields) {
            fields.forEach((name, value) -> takeField(String.valueOf(name), value));
          }
        }
        default -> takeField(member.getKey(), member.getValue());
      }
    }
  }

  private void takeField(String name, @Nullable Object value) {
    if (PASSED_OVER.contains(name)) {
      return;
    }
    var plain = name.startsWith("router_") ? name.substring("router_".length()) : name;
    take(RENAMED.getOrDefault(name, plain.replace('_', '-')), name, value);
  }

  /** Takes one value if the configuration would accept it too. */
  private void take(String setting, String name, @Nullable Object value) {
    if (value == null) {
      return;
    }
    var key = PREFIX + setting;
    if (RouterKeys.all().stream().noneMatch(it -> it.name().equals(key))) {
      ignored.add(name + " is no setting of this router");
      return;
    }
    if (key.equals(RouterKeys.POLICY_CONFIG.name())) {
      ignored.add(name + " is a file of the worker's machine");
      return;
    }
    var text = text(value);
    try {
      RouterReader.read(it -> it.equals(key) ? new Lookup.SettingText(text, "card") : null);
      texts.put(key, text);
    } catch (InvalidSettingsException e) {
      if (setting.startsWith(TOGETHER)) {
        texts.put(key, text);
      } else {
        ignored.add(name + " = " + text + " cannot be kept");
      }
    }
  }

  /**
   * Returns the text of a value. JSON has one kind of number, so that 4.0 may mean a whole number.
   */
  private static String text(Object value) {
    if (value instanceof Double number && number == Math.rint(number) && Math.abs(number) < 1e15) {
      return String.valueOf((long) (double) number);
    }
    return String.valueOf(value);
  }

  private static RouterSettings merged(
      RouterSettings asked, RouterSettings own, Map<String, String> texts) {
    boolean skips = "true".equals(texts.get(RouterKeys.SKIP_INITIAL_WORKER_WAIT.name()));
    var costs = asked.costs();
    var tracking = asked.tracking();
    var queueing = own.queueing();
    var shared = asked.indexing().sharedCache();
    return new RouterSettings(
        asked.mode(),
        new RouterSettings.Costs(
            costs.overlapScoreCredit(),
            costs.creditDecay(),
            costs.prefillLoadScale(),
            costs.activeRequestWeight(),
            costs.hostWeight(),
            costs.diskWeight(),
            costs.temperature(),
            own.costs().tieBreak(),
            own.costs().policy()),
        new RouterSettings.Tracking(
            tracking.activeBlocks(),
            tracking.outputBlocks(),
            tracking.assumeKvReuse(),
            tracking.prefillTokens(),
            tracking.replicaSync(),
            own.tracking().expiry(),
            tracking.key()),
        asked
            .indexing()
            .with(
                new RouterSettings.SharedCaching(
                    shared.isOn(), shared.multiplier(), own.indexing().sharedCache().events())),
        new RouterSettings.Queueing(
            texts.containsKey(RouterKeys.QUEUE_THRESHOLD.name())
                ? asked.queueing().threshold()
                : queueing.threshold(),
            asked.queueing().policy(),
            queueing.capacity(),
            queueing.timeout(),
            queueing.overlapRefresh(),
            queueing.policies(),
            queueing.unknownBatchTokens()),
        asked.busy(),
        asked.sessions(),
        own.explaining(),
        skips ? 0 : own.minInitialWorkers(),
        own.cudaToCpuRatio(),
        texts.containsKey(RouterKeys.CONDITIONAL_DISAGG.name())
            ? asked.localPrefill()
            : own.localPrefill());
  }
}
