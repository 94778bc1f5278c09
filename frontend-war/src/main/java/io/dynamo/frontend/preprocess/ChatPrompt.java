package io.dynamo.frontend.preprocess;

import java.util.List;
import java.util.Map;

/**
 * The input of a chat template; values are maps, lists, strings, numbers, booleans and null, as in
 * JSON.
 *
 * @param templateArgs further names in the template's scope, for example {@code enable_thinking}
 */
public record ChatPrompt(
    List<Map<String, Object>> messages,
    List<Map<String, Object>> tools,
    Map<String, Object> templateArgs) {}
