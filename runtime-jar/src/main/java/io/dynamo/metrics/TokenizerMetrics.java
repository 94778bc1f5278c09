package io.dynamo.metrics;

/**
 * The metrics of the cache of tokenised prompts: Dynamo's names, with its meaning; sizes are our
 * own.
 */
public final class TokenizerMetrics {
  public static final MetricName CACHE_HITS =
      new MetricName(
          "dynamo_frontend_tokenizer_cache_hits_total",
          "Prompts of which a part was tokenised before");
  public static final MetricName CACHE_MISSES =
      new MetricName(
          "dynamo_frontend_tokenizer_cache_misses_total",
          "Prompts of which no part was tokenised before");
  public static final MetricName CACHED_TOKENS =
      new MetricName(
          "dynamo_frontend_tokenizer_cache_cached_tokens_total",
          "Prompt tokens taken from the cache");
  public static final MetricName UNCACHED_TOKENS =
      new MetricName(
          "dynamo_frontend_tokenizer_cache_uncached_tokens_total",
          "Prompt tokens made by the tokenizer");
  public static final MetricName CACHE_BYTES =
      new MetricName(
          "dynamo_frontend_tokenizer_cache_bytes", "Memory that remembered parts of prompts take");
  public static final MetricName CACHE_ENTRIES =
      new MetricName("dynamo_frontend_tokenizer_cache_entries", "Remembered parts of prompts");

  private TokenizerMetrics() {}
}
