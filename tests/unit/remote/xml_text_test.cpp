#include "remote/xml_text.h"

#include <catch2/catch.hpp>

namespace dsbuild {

TEST_CASE("the text of an element is found by its tag") {
  const std::string document =
      "<?xml version=\"1.0\"?>\n<Error><Code>NoSuchKey</Code><Codes>x</Codes><Key> a &lt;&amp;lt; "
      "</Key></Error>";
  CHECK(xml_text(document, "Code") == "NoSuchKey");
  CHECK(xml_text(document, "Key") == "a <&lt;");
  CHECK(xml_text(document, "Region").empty());
  CHECK(xml_text("<Code>half", "Code").empty());
  CHECK(xml_text("</Code><Code>", "Code").empty());
}

TEST_CASE("letters that mean something in XML are written as entities") {
  CHECK(xml_escape("\"a<b>&'c") == "&quot;a&lt;b&gt;&amp;&apos;c");
}

}  // namespace dsbuild
