@NullMarked
package io.dynamo.frontend.openai;

import org.jspecify.annotations.NullMarked;
