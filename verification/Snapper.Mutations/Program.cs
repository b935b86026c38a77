using Snapper.Mutations;

// A step of the verification build (Directory.Build.targets):
//     rewrite TABLE PROJECT SOURCES OUTPUT    writes the sources of a project that mutations touch, with their
// mutations
//     select TABLE OUTPUT                     writes the class that says which mutation is selected
try
{
    var table = new MutationTable(args[1]);
    if (args[0] == "select")
    {
        Write(args[2], table.Selector());
        return 0;
    }

    foreach (var (path, text) in table.Rewrite(args[2], args[3]))
    {
        Write(Path.Combine(args[4], path), text);
    }

    return 0;
}
catch (TableException wrong)
{
    Console.Error.WriteLine(wrong.Message);
    return 1;
}

// What has not changed is not written: what was compiled from it stays.
static void Write(string path, string text)
{
    if (File.Exists(path) && File.ReadAllText(path) == text)
    {
        return;
    }

    Directory.CreateDirectory(Path.GetDirectoryName(path)!);
    File.WriteAllText(path, text);
}
