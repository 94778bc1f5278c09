@NullMarked
package io.dynamo.worker;

import org.jspecify.annotations.NullMarked;
