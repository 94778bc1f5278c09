@NullMarked
package io.dynamo.kv;

import org.jspecify.annotations.NullMarked;
