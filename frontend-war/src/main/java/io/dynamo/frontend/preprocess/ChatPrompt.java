package io.dynamo.frontend.preprocess;

import java.util.List;
import java.util.Map;

/**
 * What a chat template is rendered from; values as JSON has them (maps, lists, strings, numbers,
 * booleans, null).
 *
 * @param templateArgs further names in the template's scope, for example {@code enable_thinking}
 */
public record ChatPrompt(
    List<Map<String, Object>> messages,
    List<Map<String, Object>> tools,
    Map<String, Object> templateArgs) {}
