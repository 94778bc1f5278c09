package io.dynamo.router.endpoint;

import io.dynamo.config.router.RouterSettings;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Compares a decode rank and a prefill rank for one prompt, by Dynamo's three policies. */
record LocalPrefillRule(RouterSettings.LocalPrefill settings) {
  /** Whether any prompt may be computed by a decode worker. */
  boolean isOn() {
    return settings.policy() != RouterSettings.LocalPrefillPolicy.NEVER;
  }

  /**
   * Whether the decode rank should compute the prompt itself.
   *
   * @param promptTokens length of the prompt
   * @param decode the decode rank that the request would go to
   * @param prefill the prefill rank; null is unknown, which counts as idle
   */
  boolean computesLocally(
      long promptTokens, LoadPreview decode, Supplier<@Nullable LoadPreview> prefill) {
    boolean wanted =
        switch (settings.policy()) {
          case NEVER -> false;
          case ISL_BOUNDING -> isSmall(promptTokens, decode);
          case PREFILL_LOAD -> isBusy(prefill.get());
          case ISL_OR_LOAD -> isSmall(promptTokens, decode) || isBusy(prefill.get());
        };
    return wanted && hasRoom(decode);
  }

  private boolean isSmall(long promptTokens, LoadPreview decode) {
    long left = Math.max(0, promptTokens - decode.cachedTokens());
    return left < settings.maxTokens() && left < settings.maxRatio() * Math.max(1, promptTokens);
  }

  private boolean isBusy(@Nullable LoadPreview prefill) {
    return prefill != null && prefill.hasPrefill(settings.prefillBusy());
  }

  /** Whether the decode rank is known to be below its bound, where there is one. */
  private boolean hasRoom(LoadPreview decode) {
    var bound = settings.decodeBusy();
    return bound == null || Boolean.FALSE.equals(decode.hasBlocks(bound));
  }
}
