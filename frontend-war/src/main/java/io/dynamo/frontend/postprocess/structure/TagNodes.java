package io.dynamo.frontend.postprocess.structure;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The nodes of a structural tag, as JSON maps in the order in which Dynamo writes them.
 *
 * @see <a href="https://xgrammar.mlc.ai/docs/tutorials/structural_tag.html">xgrammar's tags</a>
 */
final class TagNodes {
  private TagNodes() {}

  /** The whole tag around its form. */
  static Map<String, Object> structuralTag(Object format) {
    var tag = node("structural_tag");
    tag.put("format", format);
    return tag;
  }

  /** Content between two fixed texts. */
  static Map<String, Object> tag(String begin, Object content, String end) {
    var tag = node("tag");
    tag.put("begin", begin);
    tag.put("content", content);
    tag.put("end", end);
    return tag;
  }

  /** Any text, until the trigger begins one of the tags. */
  static Map<String, Object> triggered(
      String trigger,
      List<? extends Object> tags,
      List<String> excludes,
      boolean atLeastOne,
      boolean stopAfterFirst) {
    var node = node("triggered_tags");
    node.put("triggers", List.of(trigger));
    node.put("tags", tags);
    if (!excludes.isEmpty()) {
      node.put("excludes", excludes);
    }
    node.put("at_least_one", atLeastOne);
    node.put("stop_after_first", stopAfterFirst);
    return node;
  }

  /** At least one of the tags, nothing between them. */
  static Map<String, Object> adjacent(List<? extends Object> tags, boolean stopAfterFirst) {
    var node = node("tags_with_separator");
    node.put("tags", tags);
    node.put("separator", "");
    node.put("at_least_one", true);
    node.put("stop_after_first", stopAfterFirst);
    return node;
  }

  /** One after the other. */
  static Map<String, Object> sequence(List<? extends Object> elements) {
    var node = node("sequence");
    node.put("elements", elements);
    return node;
  }

  static Map<String, Object> constant(String value) {
    var node = node("const_string");
    node.put("value", value);
    return node;
  }

  static Map<String, Object> regex(String pattern) {
    var node = node("regex");
    node.put("pattern", pattern);
    return node;
  }

  static Map<String, Object> anyText(List<String> excludes) {
    var node = node("any_text");
    node.put("excludes", excludes);
    return node;
  }

  /**
   * A value of a JSON schema.
   *
   * @param style how the family writes the members of an object, {@code json} for JSON
   */
  static Map<String, Object> schema(Object schema, String style) {
    var node = node("json_schema");
    node.put("json_schema", schema);
    node.put("style", style);
    return node;
  }

  private static Map<String, Object> node(String type) {
    var node = new LinkedHashMap<String, Object>();
    node.put("type", type);
    return node;
  }
}
