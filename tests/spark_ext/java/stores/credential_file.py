"""Makes a credential file of Hadoop, as `hadoop credential create` does."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession


def make(spark: SparkSession, url: str, secrets: Mapping[str, str]) -> None:
    """Store secrets by name in a new file at a URL such as `localjceks://file/data/keys`."""
    context = spark.sparkContext
    jvm, gateway = context._jvm, context._gateway
    assert jvm is not None
    assert gateway is not None
    conf = jvm.org.apache.hadoop.conf.Configuration(context._jsc.hadoopConfiguration())
    conf.set("hadoop.security.credential.provider.path", url)
    factory = jvm.org.apache.hadoop.security.alias.CredentialProviderFactory
    file = factory.getProviders(conf).get(0)
    for name, secret in secrets.items():
        letters = gateway.new_array(jvm.char, len(secret))
        for at, letter in enumerate(secret):
            letters[at] = letter
        file.createCredentialEntry(name, letters)
    file.flush()
