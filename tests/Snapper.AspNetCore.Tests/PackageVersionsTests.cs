using System.Reflection;
using Snapper.AspNetCore.Applications;
using Snapper.AspNetCore.Processes;

namespace Snapper.AspNetCore.Tests;

/// <summary>
/// NuGet mixes versions of packages without a word; an application that runs on such a mixture does not start.
/// </summary>
public sealed class PackageVersionsTests
{
    [Fact]
    public void Those_of_one_build_have_one_version() => PackageVersions.Check(Assembly.GetExecutingAssembly());

    [Fact]
    public void Two_that_differ_are_named_with_their_versions()
    {
        PackageVersions.Check("Snapper.AspNetCore", "0.1.0", "Snapper.Client", "0.1.0");
        var wrong = Assert.Throws<UsageException>(
            () => PackageVersions.Check("Snapper.AspNetCore", "0.1.0", "Snapper.Client", "0.2.0"));
        Assert.Equal(
            "The packages have different versions: Snapper.AspNetCore is 0.1.0, and Snapper.Client is 0.2.0. "
            + "Give all packages of Snapper.Dapr the same one.",
            wrong.Message);
    }
}
