#include "gloveport/core/record/signing_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temporary_log.h"

namespace gloveport {
namespace {

using testing::HasSubstr;

class SigningKeyTest : public testing::Test {
 protected:
  SigningKey Load(std::string_view name) {
    auto key = SigningKey::Load(folder_ / name);
    EXPECT_TRUE(key) << key.error().message;
    return *key;
  }
  TemporaryFolder folder_;
};

TEST_F(SigningKeyTest, WhatThePrivateKeySignsThePublicOneVerifies) {
  ASSERT_TRUE(SigningKey::Generate(folder_ / "key.pem"));
  const SigningKey secret = Load("key.pem");
  const SigningKey open = Load("key.pem.pub");
  EXPECT_TRUE(secret.is_private());
  EXPECT_FALSE(open.is_private());
  EXPECT_EQ(secret.id(), open.id());
  EXPECT_EQ(open.id().size(), 64u);
  const auto signature = secret.Sign("text");
  ASSERT_TRUE(signature) << signature.error().message;
  EXPECT_TRUE(open.Verify("text", *signature));
  EXPECT_TRUE(secret.Verify("text", *signature));
  EXPECT_FALSE(open.Verify("texT", *signature));
  EXPECT_FALSE(open.Verify("text", "AAAA"));
  EXPECT_FALSE(open.Verify("text", "no base64 at all!"));
  EXPECT_FALSE(open.Verify("text", ""));
  EXPECT_EQ(open.Sign("text").error().code, ErrorCode::kInvalidArgument);
}

TEST_F(SigningKeyTest, KeysDiffer) {
  ASSERT_TRUE(SigningKey::Generate(folder_ / "a"));
  ASSERT_TRUE(SigningKey::Generate(folder_ / "b"));
  EXPECT_NE(Load("a").id(), Load("b").id());
  EXPECT_FALSE(Load("b").Verify("text", *Load("a").Sign("text")));
}

// RFC 8032, 7.1, test 2, in the PEM form of RFC 8410: any other program's key and signature do.
TEST_F(SigningKeyTest, TheStandardsKeyGivesTheStandardsSignature) {
  WriteText(folder_ / "rfc.pem",
            "-----BEGIN PRIVATE KEY-----\n"
            "MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7\n"
            "-----END PRIVATE KEY-----\n");
  EXPECT_EQ(*Load("rfc.pem").Sign("\x72"),
            "kqAJqfDUyrhyDoILX2QlQKKye1QWUD+Ps3YiI+vbadoIWsHkPhWZbkWPNhPQ8R2MOHsurrQwKu6wDSkWErsMAA==");
}

TEST_F(SigningKeyTest, TheSecretIsItsOwnersAloneAndIsNotOverwritten) {
  ASSERT_TRUE(SigningKey::Generate(folder_ / "key"));
  EXPECT_EQ(std::filesystem::status(folder_ / "key").permissions(), std::filesystem::perms(0600));
  const std::string before = ReadText(folder_ / "key");
  EXPECT_FALSE(SigningKey::Generate(folder_ / "key"));
  EXPECT_EQ(ReadText(folder_ / "key"), before);
}

TEST_F(SigningKeyTest, WhatIsNoKeyIsRefusedWithTheReason) {
  EXPECT_EQ(SigningKey::Load(folder_ / "none").error().code, ErrorCode::kNotFound);
  WriteText(folder_ / "text", "nonsense");
  // P-256.
  WriteText(folder_ / "ec",
            "-----BEGIN PUBLIC KEY-----\n"
            "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqITXlLp67gqxf/KSneRsL5Xnn9Tb\n"
            "ZYCVwUK0IjEZV0VT/7WUxXO+nNnaCjhmbw0lTpV8M9VNtK1AaIwyZ5cylQ==\n"
            "-----END PUBLIC KEY-----\n");
  for (const char* name : {"text", "ec"}) {
    const auto key = SigningKey::Load(folder_ / name);
    ASSERT_FALSE(key) << name;
    EXPECT_EQ(key.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(key.error().message, HasSubstr("no Ed25519 key"));
  }
}

}  // namespace
}  // namespace gloveport
