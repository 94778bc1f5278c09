package io.dynamo.frontend.openai;

import java.util.List;

/** Hostile JSON values of every type, size and depth, and texts that are no JSON. */
public final class HostileValues {
  /** Part of the longer texts: must be nowhere in a log. */
  public static final String SECRET = "xyzzy-plugh";

  public static final List<String> ALL =
      List.of(
          "null",
          "true",
          "false",
          "0",
          "-1",
          "1",
          "0.5",
          "-0.0",
          "1e-320",
          "1e308",
          "1e999",
          "-1e999",
          "NaN",
          "Infinity",
          "-Infinity",
          "+1",
          "01",
          "0x10",
          "4294967295",
          "4294967296",
          "-2147483649",
          "9223372036854775807",
          "9223372036854775808",
          "18446744073709551615",
          "18446744073709551616",
          "9".repeat(399),
          "9".repeat(100_000),
          "0." + "1".repeat(100_000),
          "1e" + "9".repeat(100),
          "\"\"",
          "\" \"",
          "\"" + SECRET + "\"",
          "\"\\ud800\"",
          "\"\\udc00\\ud800\"",
          "\"\\u0000\"",
          "\"" + SECRET.repeat(20_000) + "\"",
          "[]",
          "[[]]",
          "[null]",
          "[1,\"a\"]",
          "[\"" + SECRET + "\"]",
          "[-1]",
          "[1e999]",
          "[" + "1,".repeat(50_000) + "1]",
          "[" + "\"a\",".repeat(50_000) + "\"a\"]",
          "[" + "[1],".repeat(50_000) + "[1]]",
          "[".repeat(120) + "]".repeat(120),
          "[".repeat(200) + "]".repeat(200),
          "[".repeat(100_000),
          "{}",
          "{\"" + SECRET + "\":\"" + SECRET + "\"}",
          "{\"a\":1,\"a\":2}",
          "{\"" + "k".repeat(40_000) + "\":1}",
          "{\"" + "k".repeat(40_000) + "\":1,\"" + "k".repeat(40_000) + "\":1}",
          "{\"" + "k".repeat(60_000) + "\":1}",
          "{\"\\ud800\":1}",
          "{\"a\":{\"a\":{\"a\":null}}}",
          "{\"type\":\"" + SECRET + "\"}",
          "{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"" + SECRET + "\",\"schema\":5}}",
          "{\"a\":".repeat(200) + "1" + "}".repeat(200),
          "'a'",
          "undefined",
          "// comment",
          "");

  private HostileValues() {}
}
