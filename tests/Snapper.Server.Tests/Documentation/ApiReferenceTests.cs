using System.Text.Json;
using Xunit;

namespace Snapper.Server.Tests.Documentation;

/// <summary>The pages of the .NET API are made of all packages that applications refer to.</summary>
public sealed class ApiReferenceTests
{
    [Fact]
    public void Every_package_with_a_public_api_has_pages()
    {
        var root = Tree.Root;
        using var settings = JsonDocument.Parse(File.ReadAllText(Path.Combine(root, "docs", "api.json")));
        var listed = settings.RootElement.GetProperty("metadata")[0].GetProperty("src")[0].GetProperty("files")
            .EnumerateArray().Select(static file => file.GetString()!).ToArray();

        var packages = Directory
            .GetFiles(Path.Combine(root, "src"), "PublicAPI.Shipped.txt", SearchOption.AllDirectories)
            .Select(static file => Path.GetFileName(Path.GetDirectoryName(file)!))
            .Select(static name => $"src/{name}/bin/Release/net10.0/{name}.dll");
        Assert.Empty(packages.Except(listed));
        Assert.All(listed, file =>
        {
            var folder = file.Split("/bin/")[0];
            Assert.True(
                File.Exists(Path.Combine(root, folder, Path.GetFileName(folder) + ".csproj")), $"{file}: no project");
        });
    }
}
