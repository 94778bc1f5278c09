@NullMarked
package io.dynamo.frontend.openai.wire;

import org.jspecify.annotations.NullMarked;
