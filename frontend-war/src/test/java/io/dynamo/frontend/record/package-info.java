@org.jspecify.annotations.NullMarked
package io.dynamo.frontend.record;
