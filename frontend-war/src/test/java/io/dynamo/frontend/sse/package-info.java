@NullMarked
package io.dynamo.frontend.sse;

import org.jspecify.annotations.NullMarked;
